import { soundMetadata } from '../cloud/cloud-account.ts'
import { emailKey } from '../kernel/email-address.ts'
import { storableText } from '../kernel/foreign-text.ts'
import { isPlainLine } from '../kernel/one-line-name.ts'
import { line } from '../kernel/plain-words.ts'
import type {
  AccountSeen,
  AssignmentSeen,
  GroupSeen,
  InventoryPage,
  PersonSeen,
  ResourceSeen,
} from '../provisioners/target-inventory.ts'

/**
 * What is kept of a page, as rows. The target is not ours: what has no sound id is left out, texts are cut, and a row that a page
 * has twice is one.
 */
export type SeenRows = {
  resources: ResourceRow[]
  people: PersonRow[]
  groups: { id: string; name: string }[]
  members: { group_id: string; person_id: string }[]
  assignments: AssignmentRow[]
}

type ResourceRow = {
  resource_type: ResourceSeen['resource_type'] | 'cloud_account'
  id: string
  name: string
  description: string | null
  account_id: string | null
  tags: Readonly<Record<string, string>>
  facts: Readonly<Record<string, unknown>>
}
type PersonRow = {
  id: string
  name: string
  login: string | null
  login_key: string | null
  external_id: string | null
}
type AssignmentRow = {
  account_id: string
  permission_set_id: string
  principal_type: AssignmentSeen['principal_type']
  principal_id: string
  entitlement_key: string | null
}

export type RowKind = keyof SeenRows

/** Rows of each kind that a run keeps, at most: a target's list may never end. */
export const maxRows: Readonly<Record<RowKind, number>> = {
  resources: 20_000,
  people: 100_000,
  groups: 20_000,
  members: 500_000,
  assignments: 200_000,
}

/** Of one row. */
const maxLength = { name: 199, description: 999, login: 254, login_key: 600, external_id: 500, key: 2_000, host: 253 }

/** Of an integer in the database. */
const maxInteger = 2_147_483_647

/** Ids of a target are plain ASCII, so that any of them fits an index. */
const idForm = /^[!-~]{1,300}$/
const accountForm = /^[!-~]{1,128}$/

/** `issuer`: of the external ids by which users are found; null: by none. */
export function rowsOf(page: InventoryPage, issuer: string | null): SeenRows {
  const { accounts = [], resources = [], people = [], groups = [], assignments = [] } = page
  const soundGroups = groups.filter(({ id }) => idForm.test(id))
  return {
    resources: once(
      [...accounts.flatMap(accountRow), ...resources.flatMap(resourceRow)],
      ({ resource_type, id }) => `${resource_type} ${id}`,
    ),
    people: once(
      people.flatMap((person) => personRow(person, issuer)),
      ({ id }) => id,
    ),
    groups: once(
      soundGroups.map(({ id, name }) => ({ id, name: nameOf(name, id) })),
      ({ id }) => id,
    ),
    members: once(soundGroups.flatMap(memberRows), ({ group_id, person_id }) => `${group_id} ${person_id}`),
    assignments: once(assignments.flatMap(assignmentRow), (row) =>
      [row.account_id, row.permission_set_id, row.principal_type, row.principal_id].join(' '),
    ),
  }
}

/** The rows that a run may still keep, of one kind after the other, when it has kept so many. */
export function withinLimits(rows: SeenRows, kept: Readonly<Record<RowKind, number>>): SeenRows {
  const within = <Row>(kind: RowKind, all: Row[]): Row[] => all.slice(0, Math.max(0, maxRows[kind] - kept[kind]))
  return {
    resources: within('resources', rows.resources),
    people: within('people', rows.people),
    groups: within('groups', rows.groups),
    members: within('members', rows.members),
    assignments: within('assignments', rows.assignments),
  }
}

function accountRow({ account_id, name, tags, organizational_unit_ids }: AccountSeen): ResourceRow[] {
  if (!accountForm.test(account_id)) return []
  const metadata = soundMetadata(tags, organizational_unit_ids)
  return [
    {
      resource_type: 'cloud_account',
      id: account_id,
      name: nameOf(name, account_id),
      description: null,
      account_id: null,
      ...metadata,
    },
  ]
}

function resourceRow({ resource_type, id, name, description, account_id, tags, facts }: ResourceSeen): ResourceRow[] {
  if (!idForm.test(id)) return []
  const { session_seconds, is_administrator, engine, host, port, resource_id } = facts
  const text = (value: string | undefined) =>
    value === undefined ? undefined : line(storableText(value), maxLength.host)
  return [
    {
      resource_type,
      id,
      name: nameOf(name, id),
      description: description === null ? null : line(storableText(description), maxLength.description) || null,
      account_id: account_id !== null && accountForm.test(account_id) ? account_id : null,
      tags: soundMetadata(tags, []).tags,
      facts: {
        ...(isWhole(session_seconds) && { session_seconds }),
        ...(is_administrator !== undefined && { is_administrator: is_administrator === true }),
        ...(isWhole(port) && { port }),
        engine: text(engine),
        host: text(host),
        resource_id: text(resource_id),
      },
    },
  ]
}

function personRow({ id, login, name, external_ids }: PersonSeen, issuer: string | null): PersonRow[] {
  if (!idForm.test(id)) return []
  // A login that is cut or cleaned would be another one.
  const isSound = login !== '' && login.length <= maxLength.login && isPlainLine(login) && login.isWellFormed()
  const found = isSound ? login : null
  const external = issuer === null ? undefined : external_ids.find((one) => one.issuer === issuer)?.id
  return [
    {
      id,
      name: nameOf(name, nameOf(found ?? '', id)),
      login: found,
      login_key: found === null ? null : storableText(emailKey(found).slice(0, maxLength.login_key)),
      external_id:
        external === undefined || external.length > maxLength.external_id ? null : storableText(external) || null,
    },
  ]
}

function memberRows({ id, member_ids }: GroupSeen): { group_id: string; person_id: string }[] {
  return member_ids.filter((member) => idForm.test(member)).map((person_id) => ({ group_id: id, person_id }))
}

function assignmentRow(seen: AssignmentSeen): AssignmentRow[] {
  const { account_id, permission_set_arn: permission_set_id, principal_type, principal_id, entitlement_key } = seen
  if (!accountForm.test(account_id) || !idForm.test(permission_set_id) || !idForm.test(principal_id)) return []
  // A key that is cut or cleaned would be another one.
  const isSound = entitlement_key !== null && entitlement_key.length <= maxLength.key
  const key = isSound && storableText(entitlement_key) === entitlement_key ? entitlement_key : null
  return [{ account_id, permission_set_id, principal_type, principal_id, entitlement_key: key }]
}

function nameOf(name: string, id: string): string {
  return line(storableText(name), maxLength.name) || line(id, maxLength.name)
}

function isWhole(value: number | undefined): value is number {
  return value !== undefined && Number.isInteger(value) && value >= 0 && value <= maxInteger
}

/** The last of those with one key: one statement writes a row once. */
function once<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Row[] {
  return [...new Map(rows.map((row) => [keyOf(row), row])).values()]
}
