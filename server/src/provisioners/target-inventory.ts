/** What a target says of itself, page by page, for lists that people read; no decision follows from it. */

/** What is read in one go, each by itself: a fault in one delays no other. */
export const inventoryParts = ['accounts', 'permission_sets', 'people', 'databases', 'assignments'] as const
export type InventoryPart = (typeof inventoryParts)[number]

/** An active account, with the units that contain it from the root on. */
export type AccountSeen = {
  account_id: string
  name: string
  tags: Readonly<Record<string, string>>
  organizational_unit_ids: readonly string[]
}

/** A resource that a request can name, or a unit or permission set. `account_id`: null where it belongs to no single one. */
export type ResourceSeen = {
  resource_type: 'cloud_organizational_unit' | 'cloud_permission_set' | 'cloud_db_instance'
  id: string
  name: string
  description: string | null
  account_id: string | null
  tags: Readonly<Record<string, string>>
  facts: ResourceFacts
}

/** `session_seconds` and `is_administrator` of a permission set; the rest of a database, `resource_id` as `rds-db:connect` names it. */
export type ResourceFacts = {
  session_seconds?: number
  is_administrator?: boolean
  engine?: string
  host?: string
  port?: number
  resource_id?: string
}

/** A person of the target's directory. `login`: what the driver looks for to find a user, in lower case. */
export type PersonSeen = {
  id: string
  login: string
  name: string
  external_ids: readonly { issuer: string; id: string }[]
}

/** Some of its members: a group may come on several pages. */
export type GroupSeen = { id: string; name: string; member_ids: readonly string[] }

/** `entitlement_key`: as a plan names this access; null for a group's. */
export type AssignmentSeen = {
  account_id: string
  permission_set_arn: string
  principal_type: 'person' | 'group'
  principal_id: string
  entitlement_key: string | null
}

/** Some of what a part reads. A page may be empty: it shows that the reading goes on. */
export type InventoryPage = {
  accounts?: readonly AccountSeen[]
  resources?: readonly ResourceSeen[]
  people?: readonly PersonSeen[]
  groups?: readonly GroupSeen[]
  assignments?: readonly AssignmentSeen[]
}

/**
 * Reads a part from its beginning to its end, at a pace that leaves room for grants.
 * @throws TargetError with how to fix it, such as the right that the role lacks
 */
export type ReadInventory = (part: InventoryPart, signal: AbortSignal) => AsyncIterable<InventoryPage>
