import { test } from 'node:test'
import { given, orphanStage } from '../support/orphan-stage.ts'
import { postgresqlTarget, webhookTarget } from '../support/real-targets.ts'
import { until } from '../support/wait.ts'

/** Access that the ledger has as gone, and that a grant gave again which history lost. */
async function withoutVerify() {
  const target = await webhookTarget()
  const config = { url: target.receiver.url, lists: true, verifies: false }
  return { ...target, provisioner: { ...target.provisioner, config } }
}

const targets = { PostgreSQL: postgresqlTarget, 'a webhook that cannot be asked about one access': withoutVerify }

for (const [name, target] of Object.entries(targets)) {
  test(`access that had ended, and was given again before history was lost, is ended too: ${name}`, async (t) => {
    const on = await orphanStage(await target())
    t.after(on.close)
    const ended = await given(on.original)
    await on.original.revoke(ended.grant)
    await until('it is ended', async () => {
      const { provisioning } = (await on.original.grant(ended.grant)) as { provisioning?: { step: string } }
      return provisioning?.step === 'gone'
    })
    const { restored } = await on.losing(async () => on.original.active(await on.original.ask(ended.person)))
    await restored.db.asSuperuser(`update entitlement set updated_at = updated_at - interval '2 minutes'`)
    await restored.noSecondLook()
    await restored.adopt()
    await until('it is ended again', async () => {
      await restored.sweep()
      return (await on.holders()).length === 0
    })
  })
}
