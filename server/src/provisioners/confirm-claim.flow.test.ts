import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import type { Installation } from '../installation/installation.ts'
import { systemActor } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { HeldBack } from './claim.ts'
import { type ClaimListener, openClaimListener } from './claim-listener.ts'
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
  /** A process of the installation confirms the claim, on its way to the target. `check`: what it learns when it reads its epoch again. */
  const confirm = (epoch: number, { way, check, listener = listening(1), beats = false }: Circumstances = {}) => {
    const state = inEpoch(epoch)
    const installation = { now: async () => state, check: check ?? (async () => state) }
    const deps = { installation, markKeys, listener }
    return confirmClaim(deps, ctx, provisioner_id, { ...claims, ...way }, beats)
  }
  const contested = () =>
    asSuperuser('select from target_claim where provisioner_id = $1 and contested_at is not null', [provisioner_id])
  /** The database is as it is now. Returns what makes it so again. */
  const kept = async () => {
    const columns = 'token, token_before, epoch, beat_at'
    const [row] = await asSuperuser(`select ${columns} from target_claim where provisioner_id = $1`, [provisioner_id])
    return () =>
      asSuperuser(
        `update target_claim set (${columns}) = (select ${columns} from jsonb_populate_record(null::target_claim, $2))
          where provisioner_id = $1`,
        [provisioner_id, JSON.stringify(row)],
      )
  }
  return { confirm, contested, kept, claims, note: () => note }
}

type Circumstances = {
  way?: Partial<TargetClaims>
  check?: () => Promise<Installation>
  listener?: ClaimListener
  beats?: boolean
}

function inEpoch(epoch: number): Installation {
  return { id: '019b0000-0000-7000-8000-000000000001', epoch, adopted_epoch: null, read_only: null }
}

/** The listener of a process that began in this epoch. */
function listening(epoch: number, listenMs = 0): ClaimListener {
  const listener = openClaimListener(listenMs)
  listener.began({ epoch })
  return listener
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
    assert.equal((await confirm(2, { way: slow })).isKept, true)
    assert.deepEqual(await contested(), [])
  })
}

/** The target has a beat that the promoted database does not know. */
async function openAfterLostBeat() {
  const target = await openTarget()
  await target.confirm(1)
  const asBefore = await target.kept()
  await target.confirm(1, { beats: true })
  await asBefore()
  return target
}

test('a beat that a failover lost is ours for a process that does not know of the failover yet', async () => {
  const { confirm, contested, note } = await openAfterLostBeat()
  const confirmed = await confirm(1, { check: async () => inEpoch(2) })
  assert.deepEqual(confirmed, { epoch: 2, forged: false, isSettled: true, isKept: true })
  assert.equal(note()?.epoch, 2)
  assert.deepEqual(await contested(), [])
})

test('a beat that is unknown in an epoch that goes on is another copy’s', async () => {
  const { confirm, contested } = await openAfterLostBeat()
  await assert.rejects(confirm(1), /another copy of this Sallyport acts at this target/)
  assert.equal((await contested()).length, 1)
})

test('a database that turns out to be moved does nothing at the target, and notes nothing', async () => {
  const { confirm, contested, note } = await openAfterLostBeat()
  const before = note()
  const moved = { ...inEpoch(2), read_only: { since: '2026-01-01T00:00:00Z', reason: 'moved' } } as const
  await assert.rejects(confirm(1, { check: async () => moved }), HeldBack)
  assert.deepEqual(note(), before)
  assert.deepEqual(await contested(), [])
})

test('what another process wrote after a failover is ours, though the kept claim was read before it', async () => {
  const { confirm, contested, kept } = await openTarget()
  await confirm(1)
  const ofFormerDatabase = await kept()
  await confirm(2)
  const ofPromoted = await kept()
  await ofFormerDatabase()
  const check = async () => {
    await ofPromoted()
    return inEpoch(2)
  }
  assert.equal((await confirm(1, { check })).isSettled, true)
  assert.deepEqual(await contested(), [])
})

test('a claim that moved while a process listened is judged by the epoch of now', async () => {
  const { confirm, contested } = await openTarget()
  await confirm(1)
  const listener = listening(2, 60_000)
  await assert.rejects(confirm(2, { listener }), /to find out/)
  await confirm(1, { beats: true })
  assert.equal((await confirm(2, { listener, check: async () => inEpoch(3) })).isKept, true)
  assert.deepEqual(await contested(), [])
})
