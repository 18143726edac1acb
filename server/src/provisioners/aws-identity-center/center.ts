import { setTimeout as pause } from 'node:timers/promises'
import type { Aws, Identitystore, Organizations, SSOAdmin } from '../../aws/aws.ts'
import { readAwsFault } from '../../aws/aws-error.ts'
import { backoffDelay } from '../../kernel/backoff.ts'
import type { Semaphore } from '../../kernel/semaphore.ts'
import { type Marks, NotNow, TargetError } from '../driver.ts'
import type { ActAnswers } from './act-answers.ts'
import type { CenterConfig } from './center-config.ts'
import type { QueueLimits } from './priority-queue.ts'
import type { RateLimiter, ReadingPace } from './rate-limiter.ts'
import type { SetNames } from './set-names.ts'

/** An error answered by AWS, with its error code. */
export class AwsRefusal extends TargetError {
  readonly code: string

  constructor(kind: TargetError['kind'], message: string, code: string) {
    super(kind, message)
    this.name = 'AwsRefusal'
    this.code = code
  }
}

const gone = /^(?:Resource|Account|Parent|Target)NotFoundException$/

/** @returns undefined when AWS answers that the resource does not exist */
export async function ifThere<Answer>(call: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await call
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}

/** Whether AWS answered that the resource does not exist. */
export function isGone(error: unknown): boolean {
  return error instanceof AwsRefusal && gone.test(error.code)
}

type CallOptions = { abortSignal: AbortSignal }

/** One instance of Identity Center, called as the tenant's role, within the instance's rate limit. */
export type Center = {
  tenant_id: string
  provisioner_id: string
  config: CenterConfig
  /** Undefined where nothing is given. */
  marks: Marks | undefined
  /** `aws`, `aws-cn` or `aws-us-gov`. */
  partition: string
  rateLimiter: RateLimiter
  readingPace: ReadingPace
  names: SetNames
  answers: ActAnswers
  /** How long a throttled call is repeated, and the longest pause before its first repetition. */
  repeating: { repeatMs: number; retryMs: number }
  /** Changes of a set's policy, by its ARN. */
  policyWrites: Semaphore
  /** After how many seconds a policy is read again in which sessions were cut. */
  readAgainSeconds: number
  aws: Aws
  /** The service's own identity, before it assumes the role. @throws AwsRefusal */
  whoAmI(): Promise<string>
  /** Makes sure that the role can be used. @throws AwsRefusal */
  assumeRole(): Promise<unknown>
  /**
   * Repeats a throttled call until its deadline.
   * @throws AwsRefusal; NotNow when the instance's rate limit has no room, or AWS throttles the call to the end
   */
  sso<Answer>(
    operation: string,
    queueLimits: QueueLimits,
    call: (client: SSOAdmin, options: CallOptions) => Promise<Answer>,
  ): Promise<Answer>
  /** Services whose own limits are far above Sallyport's use. @throws AwsRefusal */
  store<Answer>(
    operation: string,
    signal: AbortSignal,
    call: (client: Identitystore, options: CallOptions) => Promise<Answer>,
  ): Promise<Answer>
  organization<Answer>(
    operation: string,
    signal: AbortSignal,
    call: (client: Organizations, options: CallOptions) => Promise<Answer>,
  ): Promise<Answer>
  /** A client of a service in a member account. @throws AwsRefusal when its role cannot be assumed */
  openMember<Client>(role_arn: string, open: () => Promise<Client>): Promise<Member<Client>>
  member<Client, Answer>(
    operation: string,
    member: Member<Client>,
    signal: AbortSignal,
    call: (client: Client, options: CallOptions) => Promise<Answer>,
  ): Promise<Answer>
}

/** A client that acts as a role of its account. */
export type Member<Client> = { role_arn: string; client: Client }

/** Before a throttled call is repeated, at most; and before a call comes back that was throttled to its deadline, at least. */
const maxRetryMs = 5_000
const comeBackMs = 1_000

export function openCenter(
  parts: Omit<
    Center,
    'partition' | 'whoAmI' | 'assumeRole' | 'sso' | 'store' | 'organization' | 'openMember' | 'member'
  >,
): Center {
  const { aws, rateLimiter, repeating } = parts

  const translate = async <Answer>(
    operation: string,
    call: () => Promise<Answer>,
    expired = () => aws.forgetRole(),
  ): Promise<Answer> => {
    try {
      return await call()
    } catch (error) {
      if (error instanceof TargetError || error instanceof NotNow) throw error
      const fault = readAwsFault(operation, error)
      if (fault.credentials) expired()
      const kind = fault.passes ? 'transient' : 'permanent'
      throw new AwsRefusal(kind, fault.message, fault.throttled ? tooManyCalls : fault.code)
    }
  }
  // Before the rate limit, so that a role that cannot be assumed uses none of it.
  const assumed = () => translate('AssumeRole', () => aws.assumeRole())

  const ofMember = (role_arn: string) => () => aws.forgetRole(role_arn)

  /** A call that has no room because AWS throttles says so. */
  const wait = async (queueLimits: QueueLimits) => {
    try {
      await rateLimiter.wait(queueLimits)
    } catch (error) {
      throw error instanceof NotNow && rateLimiter.isThrottled() ? new NotNow(error.after_ms, saysThrottled) : error
    }
  }

  const sso: Center['sso'] = async (operation, queueLimits, call) => {
    let until = queueLimits.until
    for (let attempts = 0; ; attempts += 1) {
      await assumed()
      await wait(queueLimits)
      const client = await aws.ssoAdmin()
      const sentAt = performance.now()
      try {
        return await translate(operation, () => call(client, { abortSignal: queueLimits.signal }))
      } catch (error) {
        if (!(error instanceof AwsRefusal) || error.code !== tooManyCalls) throw error
        rateLimiter.throttled(sentAt)
        if (attempts === 0) until = Math.min(until, sentAt + repeating.repeatMs)
        const ms = backoffDelay({ base: repeating.retryMs, max: maxRetryMs, jitter: 1 }, attempts, Math.random())
        if (performance.now() + ms >= until) throw new NotNow(Math.max(ms, comeBackMs), saysThrottled)
        await pause(ms, undefined, { signal: queueLimits.signal })
      }
    }
  }

  return {
    ...parts,
    partition: parts.config.role_arn.split(':')[1] ?? 'aws',
    whoAmI: () => translate('GetCallerIdentity', () => aws.whoAmI()),
    assumeRole: assumed,
    sso,
    async store(operation, signal, call) {
      await assumed()
      const client = await aws.identityStore()
      return translate(operation, () => call(client, { abortSignal: signal }))
    },
    async organization(operation, signal, call) {
      await assumed()
      const client = await aws.organizations()
      return translate(operation, () => call(client, { abortSignal: signal }))
    },
    openMember: async (role_arn, open) => ({
      role_arn,
      client: await translate('AssumeRole', open, ofMember(role_arn)),
    }),
    member: (operation, { role_arn, client }, signal, call) =>
      translate(operation, () => call(client, { abortSignal: signal }), ofMember(role_arn)),
  }
}

/** One text for all calls: what people read does not change with each of them. */
const saysThrottled = 'AWS throttles the calls to its Identity Center; Sallyport goes on at the rate that AWS takes'

/** The code of each refusal of a service that has had too many calls: their own names differ. */
export const tooManyCalls = 'Throttled'
