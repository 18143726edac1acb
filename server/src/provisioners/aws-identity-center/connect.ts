import { createHash } from 'node:crypto'
import { type Connect, connectOf } from '../connect.ts'
import type { CenterConfig } from './center-config.ts'
import type { Gift } from './own-set.ts'

/** A permission set on an account; `gives`: only for a set that Sallyport makes. */
type Access = { account_id: string; set: string; gives?: Gift; database?: { host: string; port: number } | undefined }

/** The characters of a set's name that AWS allows. The lines of a file take it as it is. */
const setForm = /^[\w+=,.@-]{1,32}$/
const accountForm = /^\d{12}$/

/** How a user reaches the access: in the access portal, the console and the AWS CLI, as far as the config names the portal. */
export function connectBy(config: CenterConfig, access: Access): Connect {
  const { account_id, set, gives } = access
  const portal = setForm.test(set) && accountForm.test(account_id) ? portalOf(config) : undefined
  const sso_region = portal?.region ?? config.region
  const profile = portal === undefined ? undefined : profileOf(account_id, set)
  return connectOf({
    kind: 'aws',
    summary: portal === undefined ? withoutPortal : withPortal,
    fields: [['Account', account_id], ['Permission set', set], ...fieldsOf(access)],
    links: portal === undefined ? [] : linksOf(config, portal.url, access),
    commands: profile === undefined ? [] : commandsOf(profile, access),
    files: portal === undefined || profile === undefined ? [] : filesOf(config, portal, profile, access),
    aws: {
      ...{ account_id, permission_set: set, sso_region },
      ...(portal !== undefined && { portal_url: portal.url }),
      ...(profile !== undefined && { profile }),
    },
  })

  function fieldsOf({ database }: Access): [string, string][] {
    if (gives?.on === 'bucket') return [['Bucket', gives.bucket]]
    if (gives?.on === 'instance') return [['Machine', gives.instance_id]]
    if (gives?.on !== 'database') return []
    return [
      ['Database host', database?.host ?? ''],
      ['Database port', String(database?.port ?? '')],
      ['Database user', gives.user],
      ['Region', gives.region],
    ]
  }
}

const withoutPortal =
  'Sign in at the AWS access portal of your organization, and choose this account and permission set there. An administrator who ' +
  'sets `portal_url` of the provisioner makes Sallyport show links, and lines for the AWS CLI.'
const withPortal =
  'Sign in at the AWS access portal. For the AWS CLI, add the lines to `~/.aws/config`, in place of a section of the same name, ' +
  'and sign in with `aws sso login`.'

type Portal = { url: string; region: string }

/** The region of a portal that is not the instance's first one is part of its host. */
function portalOf({ portal_url, region }: CenterConfig): Portal | undefined {
  if (portal_url === undefined) return undefined
  const url = portal_url.endsWith('/') ? portal_url.slice(0, -1) : portal_url
  const [, before, after] =
    /\.([a-z0-9-]+)\.portal\.amazonaws\.com(?:\.cn)?$|\.portal\.([a-z0-9-]+)\.app\.aws$/.exec(new URL(url).hostname) ??
    []
  return { url, region: before ?? after ?? region }
}

/** The console shows nothing of what a set for a machine or a database allows. */
function linksOf({ instance_arn }: CenterConfig, portal: string, { account_id, set, gives }: Access): Connect['links'] {
  const links = [{ label: 'AWS access portal', url: portal }]
  if (gives !== undefined && gives.on !== 'bucket') return links
  const isUsual = instance_arn.startsWith('arn:aws:')
  const bucket =
    isUsual && gives !== undefined ? `https://s3.console.aws.amazon.com/s3/buckets/${gives.bucket}` : undefined
  const query = [
    `account_id=${encodeURIComponent(account_id)}`,
    `role_name=${encodeURIComponent(set)}`,
    ...(bucket === undefined ? [] : [`destination=${encodeURIComponent(bucket)}`]),
  ]
  return [...links, { label: 'AWS console', url: `${portal}/#/console?${query.join('&')}` }]
}

/** `ReadOnlyAccess-123456789012`. Names that differ only in what a profile's name lacks get different profiles. */
function profileOf(account_id: string, set: string): string {
  const name = set.replace(/[^A-Za-z0-9_.-]/g, '-').replace(/^[^A-Za-z0-9]+/, '') || 'set'
  const mark = name === set ? '' : `-${createHash('sha256').update(set).digest('hex').slice(0, 6)}`
  return `${name}${mark}-${account_id}`
}

/** Every profile has the same session, so that one sign-in serves all of them. */
function filesOf(config: CenterConfig, portal: Portal, profile: string, access: Access): Connect['files'] {
  const { account_id, set, gives } = access
  const session = `sallyport-${config.instance_arn.split('/')[1]}`
  const path = '~/.aws/config'
  return [
    {
      label: 'the session, once for all profiles',
      path,
      lines: [
        `[sso-session ${session}]`,
        `sso_start_url = ${portal.url}`,
        `sso_region = ${portal.region}`,
        'sso_registration_scopes = sso:account:access',
      ],
    },
    {
      label: gives?.on === 'database' ? 'the profile' : 'the profile; change its region to the one you work in',
      path,
      lines: [
        `[profile ${profile}]`,
        `sso_session = ${session}`,
        `sso_account_id = ${account_id}`,
        `sso_role_name = ${set}`,
        `region = ${gives?.on === 'database' ? gives.region : config.region}`,
      ],
    },
  ]
}

function commandsOf(profile: string, { gives, database }: Access): { label: string; words: string[] }[] {
  const aws = (label: string, ...words: string[]) => ({ label, words: ['aws', ...words, '--profile', profile] })
  return [aws('sign in', 'sso', 'login'), ...useOf()]

  function useOf() {
    if (gives === undefined) return [aws('who am I?', 'sts', 'get-caller-identity')]
    if (gives.on === 'bucket') return [aws('list the bucket', 's3', 'ls', `s3://${gives.bucket}/`)]
    if (gives.on === 'instance') {
      const label = 'a shell on the machine, with the Session Manager plugin'
      return [aws(label, 'ssm', 'start-session', `--target=${gives.instance_id}`)]
    }
    if (database === undefined) return []
    // With `=`: the user's name may begin with a hyphen.
    const place = [`--hostname=${database.host}`, `--port=${database.port}`, `--username=${gives.user}`]
    const label = 'a password for the database, valid for 15 minutes'
    return [aws(label, 'rds', 'generate-db-auth-token', ...place, `--region=${gives.region}`)]
  }
}
