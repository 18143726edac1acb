import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { cutOffAfter, cutOffOf, type Gift, inlinePolicyOf, ownSetName, sessionHours } from './own-set.ts'

const account = '123456789012'
const at = new Date('2026-05-04T12:00:00Z')
const until = { DateLessThan: { 'aws:CurrentTime': '2026-05-04T12:00:00Z' } }
const bucket: Gift = { on: 'bucket', bucket: 'logs', may: 'read' }

const statementsOf = (gives: Gift) =>
  (JSON.parse(inlinePolicyOf('aws', account, gives, at)) as { Statement: Record<string, unknown>[] }).Statement

suite('the policy of an own set', () => {
  test('allows reading one bucket of its account until the end', () => {
    const Condition = { StringEquals: { 'aws:ResourceAccount': account }, ...until }
    assert.deepEqual(statementsOf(bucket), [
      {
        Effect: 'Allow',
        Action: ['s3:GetBucketLocation', 's3:ListBucket'],
        Resource: ['arn:aws:s3:::logs'],
        Condition,
      },
      {
        Effect: 'Allow',
        Action: ['s3:GetObject', 's3:GetObjectVersion'],
        Resource: ['arn:aws:s3:::logs/*'],
        Condition,
      },
    ])
  })

  test('allows nothing in a bucket of another account, whatever the access (P27)', () => {
    for (const may of ['read', 'write', 'delete'] as const)
      for (const { Condition } of statementsOf({ ...bucket, may }))
        assert.deepEqual((Condition as Record<string, unknown>).StringEquals, { 'aws:ResourceAccount': account })
  })

  test('allows only writing or only deleting', () => {
    const actionsOf = (may: 'write' | 'delete') => statementsOf({ ...bucket, may }).flatMap(({ Action }) => Action)
    assert.deepEqual(
      actionsOf('write').filter((action) => /Delete|GetObject/.test(String(action))),
      [],
    )
    assert.deepEqual(
      actionsOf('delete').filter((action) => /Put|GetObject/.test(String(action))),
      [],
    )
  })

  test('allows connecting to one database as one user', () => {
    const gives: Gift = { on: 'database', region: 'eu-west-1', resource_id: 'db-ABC', user: 'ada' }
    assert.deepEqual(statementsOf(gives), [
      {
        Effect: 'Allow',
        Action: ['rds-db:connect'],
        Resource: [`arn:aws:rds-db:eu-west-1:${account}:dbuser:db-ABC/ada`],
        Condition: until,
      },
    ])
  })

  test('allows a shell on one machine, no other document there, and no session but the user’s own', () => {
    const [start, own, ...more] = statementsOf({ on: 'instance', instance_id: 'i-1' })
    assert.deepEqual(start?.Resource, [
      `arn:aws:ec2:*:${account}:instance/i-1`,
      `arn:aws:ssm:*:${account}:document/SSM-SessionManagerRunShell`,
    ])
    assert.deepEqual(start?.Condition, { BoolIfExists: { 'ssm:SessionDocumentAccessCheck': 'true' }, ...until })
    assert.deepEqual(own?.Resource, [`arn:aws:ssm:*:${account}:session/\${aws:userid}-*`])
    assert.deepEqual(more, [])
  })

  test('yields its end when it is read back, and nothing after any edit', () => {
    const policy = inlinePolicyOf('aws', account, bucket, at)
    assert.deepEqual(cutOffOf('aws', account, bucket, policy), at)
    const touched = [
      policy.replace('s3:GetObject"', 's3:*"'),
      policy.replace('2026-05-04T12:00:00Z', '2027-05-04T12:00:00Z'),
      '',
      '{}',
      '"aws:CurrentTime":"2026-99-99T12:00:00Z"',
    ]
    for (const text of touched) assert.equal(cutOffOf('aws', account, bucket, text), undefined, text)
  })
})

test('AWS stops the access 5 to 10 minutes after the end', () => {
  for (let seconds = 0; seconds < 600; seconds += 7) {
    const end = new Date(at.getTime() + seconds * 1_000)
    const minutes = (cutOffAfter(end).getTime() - end.getTime()) / 60_000
    assert.ok(minutes >= 5 && minutes <= 10, `${minutes} minutes`)
  }
})

test('a session lasts the whole hours of the grant, at least one and at most the limit', () => {
  const cases: [seconds: number, most: number, hours: number][] = [
    [900, 1, 1],
    [3_600, 12, 1],
    [7_199, 12, 1],
    [7_200, 12, 2],
    [86_400, 12, 12],
    [86_400, 1, 1],
  ]
  for (const [duration_seconds, most, hours] of cases) assert.equal(sessionHours({ duration_seconds }, most), hours)
})

test('the name of an own set is unique to tenant, user, account and access, and valid in AWS', () => {
  const name = ownSetName('tenant', 'user', account, bucket)
  assert.match(name, /^sallyport-[0-9a-f]{22}$/)
  const others = [
    ownSetName('other', 'user', account, bucket),
    ownSetName('tenant', 'other', account, bucket),
    ownSetName('tenant', 'user', '123456789013', bucket),
    ownSetName('tenant', 'user', account, { ...bucket, may: 'write' }),
    ownSetName('tenant', 'user', account, { on: 'instance', instance_id: 'i-1' }),
  ]
  assert.equal(new Set([name, ...others]).size, 6)
})
