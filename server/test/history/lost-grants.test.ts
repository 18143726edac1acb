import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { historyStage, type Site } from '../support/history-stage.ts'
import { awsTarget, postgresqlTarget, type RealTarget, webhookTarget } from '../support/real-targets.ts'
import { until } from '../support/wait.ts'

/** A restored backup knows less than the target: what an earlier epoch gave is found there and ended. */
const kinds: Record<string, () => Promise<RealTarget>> = {
  'PostgreSQL, by a role of its own': () => postgresqlTarget(),
  'PostgreSQL, by a login that was made': () => postgresqlTarget({ made: true }),
  'AWS, by a set of its own': awsTarget,
  'a webhook that lists': webhookTarget,
}

type Orphan = { id: string; origin: string; status: string; target_key: string }

async function given(site: Site) {
  const person = await site.person()
  return { email: person.email, person, grant: await site.active(await site.ask(person)) }
}

for (const [name, open] of Object.entries(kinds)) {
  suite(`at ${name}`, async () => {
    const on = await historyStage(await open())
    const { original } = on
    const { holders } = on.target
    const orphansOf = async (site: Site) =>
      (await site.get(`/v1/provisioners/${on.tenant.provisioner_id}/orphans`)).data as Orphan[]

    test('two grants that the backup does not know are ended within a sweep, and those that it knows stay', async (t) => {
      t.after(on.end)
      const known = await given(original)
      const file = await on.backUp(original)
      const lost = [await given(original), await given(original)]
      await original.house.app.stop()
      const restored = await on.restored(file)
      await restored.noSecondLook()
      await restored.sweep()
      assert.deepEqual(await holders(), [known, ...lost].map(({ email }) => email).sort())
      assert.deepEqual(await orphansOf(restored), [])

      await restored.adopt()
      await until('both are ended', async () => (await holders()).length === 1)
      assert.deepEqual(await holders(), [known.email])
      await until('nothing is left of them', async () => {
        await restored.sweep()
        return (await orphansOf(restored)).length === 0
      })
      // One event for each page of the target's list.
      const found = await restored.events('provisioner.drifted')
      const sum = (name: string) => found.reduce((all, { data }) => all + Number(data[name]), 0)
      assert.deepEqual([sum('found'), sum('ours')], [2, 2])
      const ended = await restored.events('provisioner.orphan_ended')
      assert.equal(ended.length, 2)
      if (name.includes('made') || name.includes('AWS')) {
        assert.deepEqual(ended.map(({ data }) => data.grant_id).sort(), lost.map(({ grant }) => grant).sort())
      }
      assert.equal((await restored.grant(known.grant)).status, 'active')

      // What is given from now on is no orphan, nor what a person of the target adds.
      const later = await given(restored)
      await restored.sweep()
      assert.deepEqual(await orphansOf(restored), [])
      assert.deepEqual(await holders(), [known.email, later.email].sort())
      await restored.revoke(known.grant)
      await until('it is ended', async () => (await holders()).length === 1)
    })
  })
}
