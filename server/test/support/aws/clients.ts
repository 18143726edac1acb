import assert from 'node:assert/strict'
import { IdentitystoreClient } from '@aws-sdk/client-identitystore'
import { OrganizationsClient } from '@aws-sdk/client-organizations'
import { RDSClient } from '@aws-sdk/client-rds'
import { SSMClient } from '@aws-sdk/client-ssm'
import { SSOAdminClient } from '@aws-sdk/client-sso-admin'
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts'
import { type Aws, operator } from './aws.ts'

type Keys = { accessKeyId: string; secretAccessKey: string; sessionToken?: string }

/** The vendor's own clients, which try each call once unless configured otherwise. */
export function clientsOf(aws: Aws, credentials: Keys = operator, { maxAttempts = 1, region = aws.region } = {}) {
  const common = { endpoint: aws.origin, region, credentials, maxAttempts }
  return {
    sso: new SSOAdminClient(common),
    directory: new IdentitystoreClient(common),
    organization: new OrganizationsClient({ ...common, region: 'us-east-1' }),
    shells: new SSMClient(common),
    databases: new RDSClient(common),
    tokens: new STSClient(common),
  }
}

/** The keys of a session in a role. */
export async function assume(aws: Aws, RoleArn: string, ExternalId?: string, DurationSeconds?: number): Promise<Keys> {
  const input = { RoleArn, ExternalId, DurationSeconds, RoleSessionName: 'sallyport-test' }
  const { Credentials } = await clientsOf(aws).tokens.send(new AssumeRoleCommand(input))
  const { AccessKeyId = '', SecretAccessKey = '', SessionToken = '' } = Credentials ?? {}
  return { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken }
}

/** A request as it goes over the wire. */
type Sent = { headers: Record<string, string>; body: string | Uint8Array }

/** Changes what a client sends: after signing, or before, so that the signature covers the change. */
export function changeSent(
  client: SSOAdminClient,
  change: (sent: Sent) => void,
  when: 'signed' | 'before' = 'signed',
): void {
  const { middlewareStack: stack } = client
  const changed = <Args extends object>(args: Args): Args => {
    change((args as { request: Sent } & Args).request)
    return args
  }
  if (when === 'before') stack.add((next) => (args) => next(changed(args)), { step: 'build', priority: 'low' })
  else stack.add((next) => (args) => next(changed(args)), { step: 'deserialize', priority: 'low' })
}

/** Asserts that the call fails with this name and status. */
export async function refused(call: Promise<unknown>, name: string, status = 400, message = /./): Promise<void> {
  const error: unknown = await call.then(
    () => assert.fail(`it was not refused as ${name}`),
    (thrown: unknown) => thrown,
  )
  const { $metadata } = error as { $metadata?: { httpStatusCode?: number } }
  assert.deepEqual([(error as Error).name, $metadata?.httpStatusCode], [name, status], String(error))
  assert.match((error as Error).message, message)
}
