import { TargetError } from '../driver.ts'
import type { InventoryPage, ResourceSeen } from '../target-inventory.ts'
import type { Center, Member } from './center.ts'
import { walkOrganization } from './inventory-organization.ts'
import type { Reader } from './inventory-reading.ts'
import { pagesOf } from './pages.ts'

/** So many accounts in a row of which nothing can be read for the moment: the fault is not theirs. */
const maxUnread = 3

/**
 * The database instances of each active account, by a role there; nothing without the name of that role. An account that cannot be read
 * delays no other.
 * @throws TargetError at the end, with the accounts that could not be read
 */
export async function* readDatabases(reader: Reader): AsyncGenerator<InventoryPage> {
  const { inventory_role } = reader.center.config
  if (inventory_role === undefined) return
  const unread: Unread[] = []
  let unreadInARow = 0
  for await (const { accounts } of walkOrganization(reader)) {
    for (const { id } of accounts) {
      yield {}
      const { fault, regions } = yield* readAccount(reader, id, inventory_role)
      if (fault !== undefined) unread.push({ account_id: id, fault })
      unreadInARow = fault?.kind === 'transient' && regions === 0 ? unreadInARow + 1 : 0
      if (unreadInARow === maxUnread) throw failureOf(unread, inventory_role)
    }
  }
  if (unread.length > 0) throw failureOf(unread, inventory_role)
}

type Unread = { account_id: string; fault: TargetError }

/** Returns how many regions were read, and why another one could not be. */
async function* readAccount(
  { center, signal }: Reader,
  id: string,
  inventory_role: string,
): AsyncGenerator<InventoryPage, { fault: TargetError | undefined; regions: number }> {
  const { region: home, inventory_regions = [home] } = center.config
  const role_arn = `arn:${center.partition}:iam::${id}:role/${inventory_role}`
  const faultOf = (error: unknown): TargetError => {
    signal.throwIfAborted()
    if (error instanceof TargetError) return error
    throw error
  }
  let [fault, regions]: [TargetError | undefined, number] = [undefined, 0]
  for (const region of inventory_regions) {
    let member: Rds
    try {
      member = await center.openMember(role_arn, () => center.aws.rds(role_arn, region))
    } catch (error) {
      return { fault: faultOf(error), regions }
    }
    try {
      for await (const instances of instancesOf(center, member, region, signal))
        yield { resources: instances.flatMap((one) => resourceOf(one, id)) }
      regions += 1
    } catch (error) {
      fault ??= faultOf(error)
    } finally {
      member.client.destroy()
    }
  }
  return { fault, regions }
}

type Rds = Member<Awaited<ReturnType<Center['aws']['rds']>>>

async function* instancesOf(
  center: Center,
  member: Rds,
  region: string,
  signal: AbortSignal,
): AsyncGenerator<readonly Instance[]> {
  const pages = pagesOf(async (Marker) => {
    const page = await center.member(`DescribeDBInstances in ${region}`, member, signal, (client, options) =>
      client.describeDBInstances({ MaxRecords: 100, Marker }, options),
    )
    return { instances: page.DBInstances ?? [], NextToken: page.Marker }
  })
  for await (const { instances } of pages) yield instances
}

type Instance = {
  DBInstanceArn?: string | undefined
  DBInstanceIdentifier?: string | undefined
  DbiResourceId?: string | undefined
  Engine?: string | undefined
  Endpoint?: { Address?: string | undefined; Port?: number | undefined } | undefined
  TagList?: { Key?: string | undefined; Value?: string | undefined }[] | undefined
}

function resourceOf(instance: Instance, account_id: string): ResourceSeen[] {
  const { DBInstanceArn: id, DBInstanceIdentifier: name, DbiResourceId, Engine, Endpoint, TagList = [] } = instance
  if (id === undefined) return []
  const { Address, Port } = Endpoint ?? {}
  const facts = {
    ...(Engine !== undefined && { engine: Engine }),
    ...(Address !== undefined && { host: Address }),
    ...(Port !== undefined && { port: Port }),
    ...(DbiResourceId !== undefined && { resource_id: DbiResourceId }),
  }
  const tags = Object.fromEntries(TagList.map(({ Key = '', Value = '' }) => [Key, Value]))
  return [{ resource_type: 'cloud_db_instance', id, name: name ?? id, description: null, account_id, tags, facts }]
}

const maxNamed = 3

function failureOf(unread: readonly Unread[], inventory_role: string): TargetError {
  const named = unread.slice(0, maxNamed).map(({ account_id }) => account_id)
  const others = unread.length - named.length
  const accounts = others === 0 ? named.join(', ') : `${named.join(', ')} and ${others} more`
  const lasting = unread.find(({ fault }) => fault.kind === 'permanent')
  const first = (lasting ?? unread[0])?.fault.message
  const count = unread.length === 1 ? 'of 1 account' : `of ${unread.length} accounts`
  const fix = `create the role \`${inventory_role}\` there with the trust policy and the rights of the guide`
  const message = `the databases ${count} could not be read: ${accounts}`
  return lasting === undefined
    ? new TargetError('transient', `${message} (${first})`)
    : new TargetError('permanent', `${message}; ${fix} (${first})`)
}
