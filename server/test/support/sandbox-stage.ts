import { newId } from '../../src/kernel/id.ts'
import type { PlanInput } from '../../src/provisioners/driver.ts'
import { sandbox } from '../../src/provisioners/sandbox/sandbox.ts'
import type { Break, Stage } from '../conformance/stage.ts'
import type { TestDatabase } from './database.ts'
import { faultyDriverTypes } from './faulty-sandbox.ts'
import { noEgress } from './no-egress.ts'
import { type InjectedFaults, injectFaults } from './sandbox-faults.ts'

/** The sandbox of a new tenant, prepared for the conformance suite. */
export async function sandboxStage({ database, asSuperuser }: TestDatabase): Promise<Stage> {
  const tenant_id = newId()
  await asSuperuser(`insert into tenant (id, name) values ($1, 'conformance')`, [tenant_id])
  const tx = database.tenant(tenant_id)
  const provisioner_id = newId()
  const keyOf = async (input: PlanInput) => (await driver.plan(tx, input, new AbortController().signal)).key
  const opening = {
    tenant_id,
    provisioner_id,
    config: {},
    previous: {},
    egress: noEgress,
    public_url: 'http://127.0.0.1',
  }
  const driver = sandbox.open(opening)
  return {
    type: sandbox,
    opening,
    tx,
    makeInput: () => Promise.resolve(newInput()),
    others: (input) => [
      { ...input, action: 'Administrator' },
      { ...input, account_id: '000000000002' },
      { ...input, resource: { ...input.resource, id: 'another' } },
      { ...input, resource: { ...input.resource, type: 'cloud_storage_bucket' } },
    ],
    target: {
      async sees() {
        const rows = await asSuperuser<{ key: string }>(
          `select key from sandbox_assignment where tenant_id = $1 order by key`,
          [tenant_id],
        )
        return rows.map(({ key }) => key)
      },
      holds: async (input) => {
        const at = [tenant_id, await keyOf(input)]
        return (await asSuperuser(`select 1 from sandbox_assignment where tenant_id = $1 and key = $2`, at)).length > 0
      },
      give: async (input) => {
        const at = [tenant_id, await keyOf(input)]
        await asSuperuser(`insert into sandbox_assignment (tenant_id, key) values ($1, $2)`, at)
      },
      take: async (input) => {
        const at = [tenant_id, await keyOf(input)]
        await asSuperuser(`delete from sandbox_assignment where tenant_id = $1 and key = $2`, at)
      },
    },
    endsByItself: false,
    breaks: [],
    secrets: [],
    faulty: [{ config: { region: 'eu-west-1' }, pointer: '/config/region' }],
  }
}

/** The same, on the tests' own sandbox with faults. */
export async function faultySandboxStage(db: TestDatabase): Promise<Stage> {
  const stage = await sandboxStage(db)
  const { tenant_id } = stage.tx
  const fault = (name: string, faults: InjectedFaults): Break => ({
    name,
    async begin() {
      await injectFaults(db.asSuperuser, tenant_id, faults)
      return () => injectFaults(db.asSuperuser, tenant_id, {})
    },
    healthSees: false,
  })
  const breaks = [
    fault('it answers FAILED', { failed: 1_000 }),
    fault('it throttles', { throttled: 1_000 }),
    fault('it has another operation under way', { conflicting: 1_000 }),
    fault('it begins, and does not answer', { forgotten: 1_000 }),
  ]
  return { ...stage, type: faultyDriverTypes.sandbox, breaks }
}

function newInput(): PlanInput {
  const id = newId()
  return {
    grant_id: newId(),
    first_grant_id: newId(),
    user: { id, email: `${id}@example.com`, name: 'Ada', external_id: null },
    resource: { type: 'cloud_account', id: '000000000001' },
    account_id: '000000000001',
    permission_set: null,
    action: 'ReadOnly',
    duration_seconds: 3_600,
    audit_session: false,
  }
}
