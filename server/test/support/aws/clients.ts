import { IdentitystoreClient } from '@aws-sdk/client-identitystore'
import { OrganizationsClient } from '@aws-sdk/client-organizations'
import { SSMClient } from '@aws-sdk/client-ssm'
import { SSOAdminClient } from '@aws-sdk/client-sso-admin'
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts'
import { type Aws, operator } from './aws.ts'

type Keys = { accessKeyId: string; secretAccessKey: string; sessionToken?: string }

/** The vendor's own clients, once per call: `maxAttempts` is theirs to retry with. */
export function clientsOf(aws: Aws, credentials: Keys = operator, maxAttempts = 1) {
  const common = { endpoint: aws.origin, region: aws.region, credentials, maxAttempts }
  return {
    sso: new SSOAdminClient(common),
    directory: new IdentitystoreClient(common),
    organization: new OrganizationsClient({ ...common, region: 'us-east-1' }),
    shells: new SSMClient(common),
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
