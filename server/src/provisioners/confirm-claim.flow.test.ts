import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import type { Installation } from '../installation/installation.ts'
import { systemActor } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { openClaimListener } from './claim-listener.ts'
import { confirmClaim } from './confirm-claim.flow.ts'
import type { Claim, TargetClaims } from './target-claims.ts'

const { database, asSuperuser } = await testDatabase()
const key = randomBytes(32)
const markKeys = { inUse: () => key, all: () => [key] }

/** A target that keeps a note, for a provisioner of its own. */
async function openTarget() {
  const [tenant_id, provisioner_id] = [newId(), newId()]
  await asSuperuser(`insert into tenant (id, name, slug) values ($1, 'Claims', $2)`, [tenant_id, `claims-${tenant_id}`])
  await asSuperuser(
    `insert into provisioner (tenant_id, id, name, provisioner_type) values ($1, $2, 'webhook', 'webhook')`,
    [tenant_id, provisioner_id],
  )
  let note: Claim | undefined
  const claims: TargetClaims = {
    read: async () => note,
    write: async (_tx, claim) => {
      note = claim
    },
  }
  const ctx = { tx: database.tenant(tenant_id), actor: systemActor, request_id: 'test' }
  /** A process of the installation confirms the claim, on its way to the target. */
  const confirm = (epoch: number, way: Partial<TargetClaims> = {}) => {
    const state: Installation = {
      id: '019b0000-0000-7000-8000-000000000001',
      epoch,
      adopted_epoch: null,
      read_only: null,
    }
    const installation = { now: async () => state, check: async () => state }
    const listener = openClaimListener(0)
    listener.began({ epoch: 1 })
    return confirmClaim({ installation, markKeys, listener }, ctx, provisioner_id, { ...claims, ...way }, false)
  }
  const contested = () =>
    asSuperuser('select from target_claim where provisioner_id = $1 and contested_at is not null', [provisioner_id])
  return { confirm, contested, claims }
}

for (const moment of ['before', 'after'] as const) {
  test(`a claim that another process renews ${moment} the target is read is still ours`, async () => {
    const { confirm, contested, claims } = await openTarget()
    await confirm(1)
    const slow: Pick<TargetClaims, 'read'> = {
      async read(tx, signal) {
        if (moment === 'before') await confirm(2)
        const note = await claims.read(tx, signal)
        if (moment === 'after') await confirm(2)
        return note
      },
    }
    assert.equal((await confirm(2, slow)).isKept, true)
    assert.deepEqual(await contested(), [])
  })
}
