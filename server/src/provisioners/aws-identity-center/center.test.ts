import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Aws } from '../../aws/aws.ts'
import { createSemaphore } from '../../kernel/semaphore.ts'
import { NotNow, TargetError } from '../driver.ts'
import { openActAnswers } from './act-answers.ts'
import { openCenter } from './center.ts'
import type { CenterConfig } from './center-config.ts'
import { openRateLimiter, openReadingPace } from './rate-limiter.ts'
import { openSetNames } from './set-names.ts'

test('only throttling by the instance slows its calls, and an expired role of an account leaves the others', async () => {
  const [slowed, forgotten]: [string[], (string | undefined)[]] = [[], []]
  let answering = ''
  const aws = {
    assumeRole: async () => undefined,
    forgetRole: (role?: string) => void forgotten.push(role),
    ssoAdmin: async () => ({}),
    identityStore: async () => ({}),
    organizations: async () => ({}),
  } as unknown as Aws
  const limits = { callsASecond: 5_000, operations: 8 }
  const rateLimiter = openRateLimiter(limits)
  const config = { role_arn: 'arn:aws:iam::111122223333:role/sallyport-provisioner' } as CenterConfig
  const center = openCenter({
    marks: undefined,
    tenant_id: '',
    provisioner_id: '',
    config,
    aws,
    rateLimiter: { ...rateLimiter, throttled: () => void slowed.push(answering), isThrottled: () => true },
    readingPace: openReadingPace(limits),
    names: openSetNames(),
    answers: openActAnswers(),
    repeating: { repeatMs: 100, retryMs: 0 },
    policyWrites: createSemaphore({ limit: 1, refusal: () => new Error() }),
    readAgainSeconds: 0,
  })
  const { signal } = new AbortController()
  const queueLimits = { urgent: false, until: Number.POSITIVE_INFINITY, signal }
  const member = { role_arn: 'a role', client: {} }
  const fails = (name: string) => () => Promise.reject(Object.assign(new Error(), { name }))
  const calls = {
    sso: (name: string) => center.sso('ListInstances', queueLimits, fails(name)),
    store: (name: string) => center.store('ListUsers', signal, fails(name)),
    organization: (name: string) => center.organization('ListRoots', signal, fails(name)),
    member: (name: string) => center.member('DescribeDBInstances', member, signal, fails(name)),
    openMember: (name: string) => center.openMember('a role', fails(name)),
  }
  for (const [service, call] of Object.entries(calls)) {
    answering = service
    await assert.rejects(call('ThrottlingException'), (error) =>
      service === 'sso'
        ? error instanceof NotNow && /^AWS throttles/.test(error.why ?? '')
        : error instanceof TargetError && error.kind === 'transient',
    )
  }
  assert.ok(slowed.length > 3, `it was called ${slowed.length} times`)
  assert.deepEqual(new Set(slowed), new Set(['sso']))
  assert.deepEqual(forgotten, [])
  for (const call of Object.values(calls)) await assert.rejects(call('ExpiredTokenException'), TargetError)
  assert.deepEqual(forgotten, [undefined, undefined, undefined, 'a role', 'a role'])
})
