import { randomBytes } from 'node:crypto'
import { openAws } from '../../aws/aws.ts'
import { createLruCache } from '../../kernel/lru-cache.ts'
import { createSemaphore, type Semaphore } from '../../kernel/semaphore.ts'
import { type Driver, type DriverType, type Opening, type Target, TargetError } from '../driver.ts'
import { inventoryParts } from '../target-inventory.ts'
import { openActAnswers } from './act-answers.ts'
import { type Center, openCenter } from './center.ts'
import { type CenterConfig, centerConfigOf, findFaults, foundFields, shownFields } from './center-config.ts'
import { discoverForeign } from './foreign-sightings.ts'
import { follow, give, seen, takeAway, takesAway } from './giving.ts'
import { checkHealth } from './health.ts'
import { instanceClaims } from './instance-claims.ts'
import { Conflict } from './operations.ts'
import { openPaces } from './paces.ts'
import { lookupOf, planAssignment } from './plan.ts'
import type { QueueLimits } from './priority-queue.ts'
import { type Limits, limitsOfAws, openRateLimiter, openReadingPace } from './rate-limiter.ts'
import { directoryReader } from './read-directory.ts'
import { inventoryReader } from './read-inventory.ts'
import { openSetNames } from './set-names.ts'
import { describeRole, findInstance } from './set-up.ts'
import { discover } from './sightings.ts'
import { assignmentOf, keyOf } from './target.ts'

const maxInstances = 1_000

/** Later than a write of another process can arrive that follows from a reading before ours. */
const readAgainAfterSeconds = 10

/** AWS IAM Identity Center: assigns permission sets to people on accounts. */
export const awsIdentityCenter: DriverType = awsIdentityCenterAt(limitsOfAws)

/** The same with other limits. */
export function awsIdentityCenterAt(limits: Limits, readAgainSeconds = readAgainAfterSeconds): DriverType {
  const instances = createLruCache<Instance>(maxInstances)
  const paces = openPaces(limits.callsASecond)
  /** The key includes the role's account: a tenant that names another tenant's instance shares nothing with it. */
  const instanceOf = ({ endpoint, role_arn, instance_arn }: CenterConfig): Instance => {
    const key = [endpoint, role_arn.split(':')[4], instance_arn].join(' ')
    const instance = instances.get(key) ?? {
      rateLimiter: paces.follow(openRateLimiter(limits)),
      names: openSetNames(),
      answers: openActAnswers(),
      repeating: { repeatMs: limits.repeatMs ?? limitsOfAws.repeatMs, retryMs: limits.retryMs ?? limitsOfAws.retryMs },
      policyWrites: openPolicyWrites(),
      readAgainSeconds,
      readingPace: openReadingPace(limits),
    }
    instances.set(key, instance)
    return instance
  }
  return {
    shownFields,
    targetFields: ['endpoint', 'region', 'instance_arn', 'identity_store_id'],
    findFaults,
    makeSecrets: () => ({ external_id: randomBytes(24).toString('base64url') }),
    inventoryParts,
    pace: paces.now,
    userLookupOf: (config) => lookupOf(config as CenterConfig),
    setUp: {
      foundFields,
      find: (opening, signal) =>
        closing(centerOf(opening), (center) => findInstance(center, queueLimitsOf(center, true, signal))),
      describe: (opening) => closing(centerOf(opening), (center) => describeRole(center, center.config.external_id)),
    },
    open: (opening) => open(centerOf(opening)),
  }

  function centerOf({ tenant_id, provisioner_id, config: given, previous, egress, marks }: Opening): Center {
    const config = centerConfigOf(given)
    const { region, endpoint, role_arn, external_id } = config
    const external_ids = previous.external_id === undefined ? [external_id] : [external_id, previous.external_id]
    const session_name = `sallyport-${provisioner_id}`
    const aws = openAws({ region, endpoint, role_arn, external_ids, session_name, egress })
    return openCenter({ tenant_id, provisioner_id, config, marks, aws, ...instanceOf(config) })
  }
}

/** Closes the center after one use. */
async function closing<Answer>(center: Center, use: (center: Center) => Promise<Answer>): Promise<Answer> {
  try {
    return await use(center)
  } finally {
    center.aws.close()
  }
}

/** What all drivers of one instance share within this process. */
type Instance = Pick<
  Center,
  'rateLimiter' | 'readingPace' | 'names' | 'answers' | 'repeating' | 'policyWrites' | 'readAgainSeconds'
>

/** Changes of policies, one at a time for each set. */
function openPolicyWrites(): Semaphore {
  return createSemaphore({
    limit: 1,
    refusal: () => new TargetError('transient', 'stopped waiting for other changes of the set’s policy'),
  })
}

/** How long a call of the ledger waits for the instance's rate limit, as part of its whole deadline. */
const maxWaitMs = 12_000

/** This many consecutive conflicts are normal; more are reported as a failure. */
const usualConflicts = 5
const maxConflictKeys = 10_000

/** Seconds until the next poll, by the number of polls so far. */
const pollSeconds = [1, 2, 3, 5, 8, 13]
const maxPollSeconds = 20

/** `work`: what the call is a step of; left out: it stands for itself. */
function queueLimitsOf({ answers }: Center, urgent: boolean, signal: AbortSignal, work?: string): QueueLimits {
  const until = performance.now() + maxWaitMs
  return { urgent, until, signal, ...(work !== undefined && { since: answers.since(work) }) }
}

function open(center: Center): Driver {
  const { instance_arn } = center.config
  const conflicts = createLruCache<number>(maxConflictKeys)
  /** A conflict is no failure, unless it is repeated too often. */
  const countingConflicts = async <Answer>(key: string, act: () => Promise<Answer>): Promise<Answer> => {
    try {
      const answer = await act()
      conflicts.delete(key)
      return answer
    } catch (error) {
      if (!(error instanceof Conflict)) throw error
      const count = (conflicts.get(key) ?? 0) + 1
      conflicts.set(key, count)
      throw count > usualConflicts ? error.refusal : error
    }
  }

  /** An act on the assignment, as a step of the work on it. */
  const acting = (target: Target, urgent: boolean, signal: AbortSignal) => {
    const assignment = assignmentOf(target)
    const key = keyOf(instance_arn, assignment)
    return { assignment, key, queueLimits: queueLimitsOf(center, urgent, signal, key) }
  }

  return {
    async plan(_tx, input, signal) {
      const work = `plan of ${input.grant_id}`
      const plan = await planAssignment(center, input, queueLimitsOf(center, false, signal, work))
      center.answers.forget(work)
      return plan
    },
    grant(_tx, target, until, signal) {
      const { assignment, key, queueLimits } = acting(target, false, signal)
      return countingConflicts(key, () => give(center, assignment, until, queueLimits))
    },
    revoke(_tx, target, signal) {
      const { assignment, key, queueLimits } = acting(target, true, signal)
      return countingConflicts(key, () => takeAway(center, assignment, queueLimits))
    },
    poll(_tx, target, reference, signal) {
      const { assignment, key, queueLimits } = acting(target, takesAway(reference), signal)
      return countingConflicts(key, () => follow(center, assignment, reference, queueLimits))
    },
    verify(_tx, target, until, signal, given = null) {
      const { assignment, queueLimits } = acting(target, until === null, signal)
      return seen(center, assignment, { until, given }, queueLimits)
    },
    discover: (_tx, known, signal) =>
      discover(center, known, { urgent: false, until: Number.POSITIVE_INFINITY, signal }),
    discoverForeign: (signal) => discoverForeign(center, { urgent: false, until: Number.POSITIVE_INFINITY, signal }),
    setPassword: null,
    readInventory: inventoryReader(center),
    readDirectory: directoryReader(center),
    claims: instanceClaims(center, (signal) => queueLimitsOf(center, true, signal)),
    health: (_tx, signal) => checkHealth(center, queueLimitsOf(center, true, signal)),
    // A waiting call gets room only when a poll sees that an operation has ended.
    pollAfterMs: (polls) => 1_000 * (center.rateLimiter.isAwaited() ? 1 : (pollSeconds[polls] ?? maxPollSeconds)),
    async close() {
      center.aws.close()
    },
  }
}
