import { type Account, type Cloud, type Database, hex, newPrincipalId, type User, type UserDetails } from './cloud.ts'

type UserChange = Partial<Pick<User, 'user_name' | 'display_name'>> & UserDetails

/** Functions that set up a test's data. `operator`: the ARN that roles trust. */
export function furnishing(cloud: Cloud, operator: string) {
  let accounts = 200_000_000_000
  return {
    /** A role that the operator may assume with this external id; `actions`: null for all. */
    addRole(
      external_id: string | null,
      actions: readonly string[] | null = null,
      account = cloud.management_account,
      name = `sallyport-${hex(6)}`,
    ) {
      const arn = `arn:aws:iam::${account}:role/${name}`
      cloud.roles.set(arn, { arn, external_id, actions, trusts: [operator], max_seconds: 3600 })
      return arn
    },
    setExternalId(role: string, external_id: string | null): void {
      const found = cloud.roles.get(role)
      if (found !== undefined) found.external_id = external_id
    },
    setActions(role: string, actions: readonly string[] | null): void {
      const found = cloud.roles.get(role)
      if (found !== undefined) found.actions = actions
    },
    /** Returns the account's id. */
    addAccount(
      status: Account['status'] = 'ACTIVE',
      parent: string = cloud.root_id,
      tags: Readonly<Record<string, string>> = {},
    ): string {
      const id = String(accounts++)
      cloud.accounts.set(id, { id, name: `account-${id}`, status, parent, tags: new Map(Object.entries(tags)) })
      return id
    },
    addUnit(parent: string = cloud.root_id, name?: string): string {
      const id = `ou-${cloud.root_id.slice(2)}-${hex(8)}`
      cloud.units.set(id, { id, name: name ?? id, parent })
      return id
    },
    ...contents(cloud),
  }
}

/** People, permission sets, and what is in accounts. */
function contents(cloud: Cloud) {
  return {
    /** Returns the user's id in the directory. */
    addUser(user_name: string, external_ids: { Issuer: string; Id: string }[] = [], more: UserDetails = {}): string {
      const id = newPrincipalId(cloud)
      cloud.users.set(id, { id, user_name, display_name: user_name, external_ids, more })
      return id
    },
    /** Replaces what is given. */
    changeUser(id: string, { user_name, display_name, ...more }: UserChange): void {
      const user = cloud.users.get(id)
      if (user === undefined) throw new Error(`there is no user \`${id}\``)
      if (user_name !== undefined) user.user_name = user_name
      if (display_name !== undefined) user.display_name = display_name
      user.more = { ...user.more, ...more }
    },
    /** Returns the group's id in the directory. */
    addGroup(name: string, members: readonly string[] = []): string {
      const id = newPrincipalId(cloud)
      cloud.groups.set(id, { id, name, members: new Set(members) })
      return id
    },
    /** Returns the ARN of a database instance. */
    addDatabase(
      account: string,
      name: string,
      more: Partial<Pick<Database, 'region' | 'engine' | 'host' | 'tags'>> = {},
    ) {
      const { region = cloud.region, engine = 'postgres', tags = new Map() } = more
      const { host = `${name}.${hex(12)}.${region}.rds.amazonaws.com` } = more
      const arn = `arn:aws:rds:${region}:${account}:db:${name}`
      const resource_id = `db-${hex(26).toUpperCase()}`
      cloud.databases.set(arn, { arn, name, account, region, engine, host, port: 5432, resource_id, tags })
      return arn
    },
    /** A permission set that another party made; returns its ARN. */
    addPermissionSet(
      name: string,
      tags: Readonly<Record<string, string>> = {},
      { managed = [], description }: { managed?: string[]; description?: string } = {},
    ): string {
      const arn = `${cloud.instance_arn.replace(':instance/', ':permissionSet/')}/ps-${hex(16)}`
      const contents = { inline_policy: '', session_duration: 'PT1H', managed }
      const past = { at: Number.NEGATIVE_INFINITY, lists: Number.NEGATIVE_INFINITY }
      const rest = {
        description,
        relay_state: undefined,
        deleted: null,
        provisioned: new Map(),
        roles: new Map(),
      }
      const made = { made_at: new Date(), created: past, tags: new Map(Object.entries(tags)) }
      cloud.sets.set(arn, { arn, name, contents, ...made, ...rest })
      return arn
    },
    /** Another party tags the instance. */
    tagInstance: (key: string, value: string): void => void cloud.instance_tags.set(key, value),
    /** Another party deletes a set that is assigned to nobody. */
    removePermissionSet(arn: string): void {
      const set = cloud.sets.get(arn)
      if (set !== undefined) set.deleted = { at: Number.NEGATIVE_INFINITY, lists: Number.NEGATIVE_INFINITY }
    },
    /** A user opens a shell on a machine; returns the session's id. */
    addShell(account: string, target: string, owner: string, region = cloud.region): string {
      const id = `${owner.replace(/.*\//, '')}-${hex(17)}`
      cloud.shells.set(id, { id, account, region, target, owner, ended: false })
      return id
    },
  }
}
