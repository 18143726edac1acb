import type { Aws, Identitystore, Organizations, SSOAdmin } from '../../aws/aws.ts'
import { readAwsFault } from '../../aws/aws-error.ts'
import type { Semaphore } from '../../kernel/semaphore.ts'
import { type Marks, NotNow, TargetError } from '../driver.ts'
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
    if (error instanceof AwsRefusal && gone.test(error.code)) return undefined
    throw error
  }
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
  /** Changes of a set's policy, by its ARN. */
  policyWrites: Semaphore
  /** After how many seconds a policy is read again in which sessions were cut. */
  readAgainSeconds: number
  aws: Aws
  /** The service's own identity, before it assumes the role. @throws AwsRefusal */
  whoAmI(): Promise<string>
  /** Makes sure that the role can be used. @throws AwsRefusal */
  assumeRole(): Promise<unknown>
  /** @throws AwsRefusal; NotNow when the instance's rate limit has no room */
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

/** The attempts of a throttled call, slower each time, before the ledger gets the error. */
const maxAttempts = 3

export function openCenter(
  parts: Omit<
    Center,
    'partition' | 'whoAmI' | 'assumeRole' | 'sso' | 'store' | 'organization' | 'openMember' | 'member'
  >,
): Center {
  const { aws, rateLimiter } = parts

  const translate = async <Answer>(
    operation: string,
    call: () => Promise<Answer>,
    {
      expired = () => aws.forgetRole(),
      throttled = () => undefined,
    }: Partial<Record<'expired' | 'throttled', () => void>> = {},
  ): Promise<Answer> => {
    try {
      return await call()
    } catch (error) {
      if (error instanceof TargetError || error instanceof NotNow) throw error
      const fault = readAwsFault(operation, error)
      if (fault.credentials) expired()
      if (fault.throttled) throttled()
      const kind = fault.passes ? 'transient' : 'permanent'
      throw new AwsRefusal(kind, fault.message, fault.throttled ? tooManyCalls : fault.code)
    }
  }
  // Before the rate limit, so that a role that cannot be assumed uses none of it.
  const assumed = () => translate('AssumeRole', () => aws.assumeRole())

  const ofMember = (role_arn: string) => ({ expired: () => aws.forgetRole(role_arn) })

  const sso: Center['sso'] = async (operation, queueLimits, call) => {
    for (let attempts = 1; ; attempts += 1) {
      await assumed()
      await rateLimiter.wait(queueLimits)
      try {
        const client = await aws.ssoAdmin()
        const { throttled } = rateLimiter
        return await translate(operation, () => call(client, { abortSignal: queueLimits.signal }), { throttled })
      } catch (error) {
        if (!(error instanceof AwsRefusal) || error.code !== tooManyCalls || attempts >= maxAttempts) throw error
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

/** The code of each refusal of a service that has had too many calls: their own names differ. */
export const tooManyCalls = 'Throttled'
