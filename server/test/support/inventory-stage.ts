import assert from 'node:assert/strict'
import { beginInventory } from '../../src/inventory/inventory-part-store.ts'
import { readInventory } from '../../src/inventory/read-inventory.job.ts'
import { claimDue, type WorkItem } from '../../src/jobs/claim.ts'
import { systemActor, type WorkCtx } from '../../src/kernel/context.ts'
import { newId } from '../../src/kernel/id.ts'
import type { DriverTypes } from '../../src/provisioners/drivers.ts'
import {
  type InventoryPage,
  type InventoryPart,
  inventoryParts,
  type PersonSeen,
  type ResourceSeen,
} from '../../src/provisioners/target-inventory.ts'
import type { UserLookup } from '../../src/provisioners/user-lookup.ts'
import type { TestDatabase } from './database.ts'
import { testDrivers } from './drivers.ts'
import { faultyDriverTypes } from './faulty-sandbox.ts'

type Db = Pick<TestDatabase, 'database' | 'asSuperuser'>

/** What a target says, part by part. `meanwhile` runs before each page; it may throw. */
export type SaidByTarget = {
  pages: Partial<Record<InventoryPart, InventoryPage[]>>
  lookup: UserLookup
  /** The fields of the config that a test still has to find. */
  toFind: string[]
  meanwhile(part: InventoryPart, page: number): Promise<void>
}

/** Driver types whose Identity Center says what the test makes it say. */
export function sayingTypes(said: SaidByTarget): DriverTypes {
  const { sandbox } = faultyDriverTypes
  return {
    ...faultyDriverTypes,
    'aws-identity-center': {
      ...sandbox,
      inventoryParts,
      userLookupOf: () => said.lookup,
      setUp: {
        get foundFields() {
          return said.toFind
        },
        find: async () => ({}),
        describe: async () => ({ identity: null, note: null, snippets: [] }),
      },
      open: (opening) => ({
        ...sandbox.open(opening),
        async *readInventory(part) {
          for (const [index, page] of (said.pages[part] ?? []).entries()) {
            await said.meanwhile(part, index)
            yield page
          }
        },
      }),
    },
  }
}

/** A target that says nothing yet. */
export const saysNothing = (): SaidByTarget => ({
  pages: {},
  lookup: { external_id_issuer: null, email_domain: null },
  toFind: [],
  meanwhile: async () => undefined,
})

/** A tenant with an Identity Center whose inventory the test reads part by part. */
export async function inventoryStage(db: Db, said = saysNothing()) {
  const types = sayingTypes(said)
  const work = readInventory(testDrivers(types), types)
  const tenant_id = newId()
  await db.asSuperuser('insert into tenant (id, name) values ($1, $2)', [tenant_id, 'Acme'])
  const addProvisioner = async () => {
    const id = newId()
    await db.asSuperuser(
      `insert into provisioner (tenant_id, id, name, provisioner_type, enabled)
        values ($1, $2, 'AWS', 'aws-identity-center', false)`,
      [tenant_id, id],
    )
    await tx.write([beginInventory(tx, id, inventoryParts, false)])
    return id
  }
  const tx = db.database.tenant(tenant_id)
  const provisioner_id = await addProvisioner()

  /** Claims a part, as the loop does. */
  async function claim(part: InventoryPart, of = provisioner_id): Promise<WorkItem> {
    await db.asSuperuser(
      `update inventory_part set next_look_at = case when part = $2 then clock_timestamp() - interval '1 day'
        else clock_timestamp() + interval '1 day' end, lease_until = null where provisioner_id = $1`,
      [of, part],
    )
    const request = { table: 'inventory_part', part: undefined, max: 1, maxPerTenant: 1, without: [] } as const
    const [claimed] = await claimDue(db.database, [request])
    const [item] = claimed?.items ?? []
    assert.ok(item, `${part} is due`)
    return item
  }

  const ctxOf = (item: WorkItem): WorkCtx => ({ tx, actor: systemActor, request_id: `inventory_part:${item.id}` })
  const run = (item: WorkItem) => work.run(ctxOf(item), item)

  /** Reads parts to their end, one after the other. */
  async function read(...parts: InventoryPart[]): Promise<void> {
    for (const part of parts) await run(await claim(part))
  }

  async function partOf(part: InventoryPart) {
    const [row] = await db.asSuperuser<{
      failures: number
      last_error: string | null
      finished_at: Date | null
      counts: Record<string, number> | null
      seconds: number
      lease_until: Date | null
    }>(
      `select failures, last_error, finished_at, counts, lease_until,
        round(extract(epoch from next_look_at - clock_timestamp()))::integer as seconds
      from inventory_part where provisioner_id = $1 and part = $2`,
      [provisioner_id, part],
    )
    assert.ok(row, part)
    return row
  }

  return { ...db, tx, tenant_id, provisioner_id, said, addProvisioner, claim, run, read, partOf }
}

export type InventoryStage = Awaited<ReturnType<typeof inventoryStage>>

/** An account of the organization. */
export const account = (account_id: string, name: string, tags: Record<string, string> = {}, units: string[] = []) => ({
  account_id,
  name,
  tags,
  organizational_unit_ids: units,
})

export const setArn = (name: string) => `arn:aws:sso:::permissionSet/ssoins-0123456789abcdef/ps-${name}`

export const permissionSet = (name: string, facts: ResourceSeen['facts'] = {}): ResourceSeen => ({
  resource_type: 'cloud_permission_set',
  id: setArn(name),
  name,
  description: null,
  account_id: null,
  tags: {},
  facts: { session_seconds: 3_600, is_administrator: false, ...facts },
})

export const person = (id: string, login: string, name = id): PersonSeen => ({ id, login, name, external_ids: [] })

export const holds = (account_id: string, set: string, type: 'person' | 'group', principal_id: string) => ({
  account_id,
  permission_set_arn: setArn(set),
  principal_type: type,
  principal_id,
  entitlement_key: type === 'person' ? JSON.stringify([account_id, set, principal_id]) : null,
})
