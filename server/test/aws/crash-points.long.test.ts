import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { awsIdentityCenterAt } from '../../src/provisioners/aws-identity-center/aws-identity-center.ts'
import type { Driver, PlanInput, Progress, Target } from '../../src/provisioners/driver.ts'
import { openAwsTarget } from '../support/aws-stage.ts'
import { testDatabase } from '../support/database.ts'
import { type Cut, interruptCall } from '../support/interrupted-call.ts'
import { longVariable } from '../support/race.ts'
import { until } from '../support/wait.ts'

const db = await testDatabase()
const house = await openAwsTarget()
const { aws, opening, inputFor } = house
const tx = db.database.tenant(opening.tenant_id)
const signal = new AbortController().signal
const ends = new Date(Date.now() + 3_600_000)

/** Each act needs two status checks before it ends, so that there are calls between its beginning and its end. */
aws.settings.acts.checks = 2
afterEach(() => aws.behave())

/** The state that a process loses when it dies: the driver, its rate limiter, its cached names, its session. */
const openProcess = (): Driver => awsIdentityCenterAt({ callsASecond: 5_000, operations: 500 }).open(opening)

/** A job that continues in another process if its process died, without any message about what it had begun. */
function openJob(cut: Cut) {
  const { dies } = cut
  let process = openProcess()
  const wasCut = interruptCall(aws, cut)
  let interrupted = false

  /** Tries again, as the work list does, in another process if the process died; reports one interruption. */
  const again = async <Answer>(step: (process: Driver) => Promise<Answer>): Promise<Answer | 'interrupted'> => {
    for (let tries = 0; ; tries++) {
      try {
        return await step(process)
      } catch (error) {
        if (wasCut() && !interrupted) {
          interrupted = true
          if (dies) {
            aws.behave()
            // Another process takes over when the lease is over, and lists are up to date by then.
            aws.settings.listLag.lists = 0
            await process.close()
            process = openProcess()
          }
          return 'interrupted'
        }
        if (tries > 200) throw error
        await pause(5)
      }
    }
  }
  const once = async <Answer>(step: (process: Driver) => Promise<Answer>): Promise<Answer> => {
    const answer = await again(step)
    return answer === 'interrupted' ? once(step) : answer
  }

  return {
    plan: (input: PlanInput) => once((one) => one.plan(tx, input, signal)),
    /** `stop`: when it is interrupted, its act is left unfinished. */
    async toItsEnd(target: Target, begin: (one: Driver) => Promise<Progress>, stop = false): Promise<void> {
      let reference: string | undefined
      for (;;) {
        const known = reference
        const progress = await again((one) => (known === undefined ? begin(one) : one.poll(tx, target, known, signal)))
        if (progress === 'interrupted') {
          if (stop) return
          if (dies) reference = undefined
        } else if (progress.done) return
        else reference = progress.reference
      }
    },
    isHeld: (target: Target) =>
      until('the access is held', async () => (await once((one) => one.verify(tx, target, ends, signal))) === 'held'),
    wasCut,
    close: async () => {
      aws.behave()
      await process.close()
    },
  }
}

const targets = {
  'an existing set': () => inputFor({ type: 'cloud_account', id: house.accounts[0] }, 'ReadOnly'),
  'a set made for the grant': () => inputFor({ type: 'cloud_storage_bucket', id: 'play-logs' }, 'read'),
} as const

const setsThere = (): string[] =>
  aws
    .permissionSets()
    .map(({ name }) => name)
    .sort()
const seatsOf = (principal: string) => aws.assignments().filter((one) => one.principal === principal)

/** A grant from its plan to its end, with one interruption; returns whether the interruption happened. */
async function live(input: ReturnType<typeof inputFor>, cut: Cut): Promise<boolean> {
  const before = setsThere()
  const job = openJob(cut)
  try {
    const { target } = await job.plan(input)
    await job.toItsEnd(target, (one) => one.grant(tx, target, ends, signal))
    assert.equal(seatsOf(input.principal_id).length, 1, 'exactly one assignment')
    await job.isHeld(target)
    assert.ok(setsThere().length <= before.length + 1, 'at most one set was made')
    await job.toItsEnd(target, (one) => one.revoke(tx, target, signal))
    assert.deepEqual(seatsOf(input.principal_id), [], 'none')
    assert.deepEqual(setsThere(), before, 'no orphan')
    assert.equal(aws.inProgress(), 0)
    return job.wasCut()
  } finally {
    await job.close()
  }
}

/** A grant that is revoked as soon as its creation was interrupted; returns whether the interruption happened. */
async function liveShortly(input: ReturnType<typeof inputFor>, cut: Cut): Promise<boolean> {
  const before = setsThere()
  const job = openJob(cut)
  try {
    const { target } = await job.plan(input)
    await job.toItsEnd(target, (one) => one.grant(tx, target, ends, signal), true)
    const came = job.wasCut()
    await job.toItsEnd(target, (one) => one.revoke(tx, target, signal))
    assert.deepEqual(seatsOf(input.principal_id), [], 'none')
    assert.deepEqual(setsThere(), before, 'no orphan')
    assert.equal(aws.inProgress(), 0)
    return came
  } finally {
    await job.close()
  }
}

const ways = {
  dies: { says: 'the process dies after a call took effect', cut: 'after', dies: true },
  before: { says: 'the connection is cut before a call takes effect', cut: 'before', dies: false },
  after: { says: 'the connection is cut after a call took effect and before its answer', cut: 'after', dies: false },
} as const

type Trial = { lists: number; what: keyof typeof targets; way: keyof typeof ways }

/**
 * The interruptions that leave the most behind: the longest sequence, effects without an answer, and lists that do not show
 * them yet. `node server/test/run.ts --long aws/crash` tries every combination of sequence, kind of set, and list delay.
 */
const long = process.env[longVariable] !== undefined
/** In a usual run every other call: one trial interrupts those with an even number, the next those with an odd one. */
const step = long ? 1 : 2
const trials: Trial[] = (long ? [0, 3] : [3]).flatMap((lists) =>
  (long ? (['an existing set', 'a set made for the grant'] as const) : (['a set made for the grant'] as const)).flatMap(
    (what) =>
      (long ? (['dies', 'after', 'before'] as const) : (['dies', 'after'] as const)).map((way) => ({
        lists,
        what,
        way,
      })),
  ),
)

describe('a grant ends whichever call to AWS is interrupted', () => {
  for (const [index, { lists, what, way }] of trials.entries()) {
    const first = index % step
    const { says, ...cut } = ways[way]
    const where = `with ${what} and ${lists === 0 ? 'current' : 'lagging'} lists, if ${says}`

    test(`it leaves one assignment, then none, and no orphan ${where} (F1, F7)`, async () => {
      let call = first - step
      do {
        aws.settings.listLag.lists = lists
        call += step
      } while (await live(targets[what](), { call, ...cut }))
      assert.ok(call > 10, `it was cut at each of its ${call} calls`)
    })

    // A process that stays alive waits longer than a test before it assumes that an unanswered call made no set.
    if (what === 'a set made for the grant' && way === 'before') continue
    test(`revoked right after the interruption, it leaves nothing ${where} (F1, F7)`, async () => {
      let call = first - step
      do {
        aws.settings.listLag.lists = lists
        call += step
      } while (await liveShortly(targets[what](), { call, ...cut }))
      assert.ok(call > 5, `it was cut at each of its ${call} calls`)
    })
  }
})
