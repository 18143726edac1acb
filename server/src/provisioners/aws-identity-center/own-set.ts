import { createHash } from 'node:crypto'
import type { PlanInput } from '../driver.ts'
import { isSamePolicy } from './same-policy.ts'

/** The access that an own set gives: only fixed words and checked ids, so that a template can use it. */
export type Gift =
  | { on: 'bucket'; bucket: string; may: 'read' | 'write' | 'delete' }
  | { on: 'database'; region: string; resource_id: string; user: string }
  | { on: 'instance'; instance_id: string }

/** A permission set that is made for one person and one resource, and deleted with their access. */
export type OwnSet = {
  /** Derived from its purpose, so that it can be found by its name later. */
  name: string
  /** The first grant that needed it. */
  grant_id: string
  audit: boolean
  session_hours: number
  gives: Gift
}

export const ownPrefix = 'sallyport-'

/** The tags that identify the owner of a set. */
export const tagKeys = {
  tenant: 'sallyport:tenant',
  provisioner: 'sallyport:provisioner',
  grant: 'sallyport:grant',
  audit: 'sallyport:audit',
  installation: 'sallyport:installation',
  epoch: 'sallyport:epoch',
  signature: 'sallyport:signature',
} as const

/** The tag by which an administrator says that nobody but Sallyport assigns a permission set of the organization. */
export const exclusiveTag = 'sallyport:exclusive'

/** At most 32 characters, AWS's limit. The same person, account and access give the same set for every grant. */
export function ownSetName(tenant_id: string, user_id: string, account_id: string, gives: Gift): string {
  const identity = JSON.stringify([tenant_id, user_id, account_id, ...Object.values(gives)])
  return (
    ownPrefix +
    createHash('sha256')
      .update(identity)
      .digest('hex')
      .slice(0, 32 - ownPrefix.length)
  )
}

/** Whole hours, at most the grant's duration, and at least 1, the minimum of AWS. */
export function sessionHours(input: Pick<PlanInput, 'duration_seconds'>, maxHours: number): number {
  return Math.min(12, Math.max(1, Math.min(maxHours, Math.floor(input.duration_seconds / 3_600))))
}

const roundMs = 5 * 60_000

/**
 * When AWS itself stops the access, even without Sallyport: 5 to 10 minutes after the end. The slack covers a grant that becomes
 * active, and so ends, a little later than requested.
 */
export function cutOffAfter(until: Date): Date {
  return new Date(Math.ceil((until.getTime() + roundMs) / roundMs) * roundMs)
}

type StatementOfPolicy = {
  Effect: 'Allow'
  Action: string[]
  Resource: string[]
  Condition?: Record<string, Record<string, string>>
}

/** The inline policy of a gift, which expires by itself at `cutOff`. */
export function inlinePolicyOf(partition: string, account_id: string, gives: Gift, cutOff: Date): string {
  const inTime = { DateLessThan: { 'aws:CurrentTime': cutOff.toISOString().replace('.000Z', 'Z') } }
  const statements = statementsOf(partition, account_id, gives)
  return JSON.stringify({
    Version: '2012-10-17',
    Statement: statements.map((statement) => ({ ...statement, Condition: { ...statement.Condition, ...inTime } })),
  })
}

/** When an inline policy expires by itself, however it is written; undefined for a policy that is not the one of this gift. */
export function cutOffOf(partition: string, account_id: string, gives: Gift, policy: string): Date | undefined {
  const [, text = ''] = /"aws:CurrentTime"\s*:[\s[]*"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)"/.exec(policy) ?? []
  const cutOff = new Date(text)
  if (Number.isNaN(cutOff.getTime())) return undefined
  return isSamePolicy(inlinePolicyOf(partition, account_id, gives, cutOff), policy) ? cutOff : undefined
}

function statementsOf(partition: string, account_id: string, gives: Gift): StatementOfPolicy[] {
  if (gives.on === 'bucket') {
    // The name of a bucket does not say its account. A bucket elsewhere may trust this account, but policy evaluated this one.
    const Condition = { StringEquals: { 'aws:ResourceAccount': account_id } }
    const bucket = `arn:${partition}:s3:::${gives.bucket}`
    return bucketStatements[gives.may](bucket).map((statement) => ({ ...statement, Condition }))
  }
  if (gives.on === 'database') {
    const { region, resource_id, user } = gives
    return [allow(['rds-db:connect'], `arn:${partition}:rds-db:${region}:${account_id}:dbuser:${resource_id}/${user}`)]
  }
  const machine = `arn:${partition}:ec2:*:${account_id}:instance/${gives.instance_id}`
  const shell = `arn:${partition}:ssm:*:${account_id}:document/SSM-SessionManagerRunShell`
  const ownSessions = `arn:${partition}:ssm:*:${account_id}:session/\${aws:userid}-*`
  return [
    {
      ...allow(['ssm:StartSession'], machine, shell),
      // Without this condition a session could run any other document on the machine.
      Condition: { BoolIfExists: { 'ssm:SessionDocumentAccessCheck': 'true' } },
    },
    allow(['ssm:ResumeSession', 'ssm:TerminateSession'], ownSessions),
  ]
}

const bucketStatements = {
  read: (bucket: string) => [
    allow(['s3:GetBucketLocation', 's3:ListBucket'], bucket),
    allow(['s3:GetObject', 's3:GetObjectVersion'], `${bucket}/*`),
  ],
  write: (bucket: string) => [
    allow(['s3:GetBucketLocation', 's3:ListBucket'], bucket),
    allow(['s3:AbortMultipartUpload', 's3:ListMultipartUploadParts', 's3:PutObject'], `${bucket}/*`),
  ],
  delete: (bucket: string) => [
    allow(['s3:GetBucketLocation', 's3:ListBucket'], bucket),
    allow(['s3:DeleteObject', 's3:DeleteObjectVersion'], `${bucket}/*`),
  ],
} as const

function allow(actions: string[], ...resources: string[]): StatementOfPolicy {
  return { Effect: 'Allow', Action: actions, Resource: resources }
}
