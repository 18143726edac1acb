/**
 * Whether a person or a resource can be in several scopes at once, decided exactly in the model of policy. In that model, a person is
 * in groups and roles; an account is in units; units are in units; buckets, databases and instances are in at most one account and in
 * units; a permission set has no parent.
 */
import { type AskedType, ancestorTypes, askedTypes } from '../../policy-engine/cedar/schema.ts'
import type { EntityScope } from '../../policy-engine/cedar/scope.ts'

export type Reference = { type: string; id: string }

/** A possible resource: its identity and all its ancestors. */
export type ResourceWitness = { type: AskedType; id: string; parents: Reference[] }

export type PrincipalWitness = { id: string; groups: string[]; roles: string[] }

/** An id in the format of its type that no rule is likely to name. */
const freshIds: Record<AskedType, string> = {
  cloud_account: '000000000001',
  cloud_permission_set: 'arn:aws:sso:::permissionSet/ssoins-0000000000000001/ps-0000000000000001',
  cloud_storage_bucket: 'some-bucket',
  cloud_db_instance: 'arn:aws:rds:eu-west-1:000000000001:db:some-database',
  cloud_compute_instance: 'i-00000000000000001',
  cloud_organizational_unit: 'ou-0000-00000001',
}

/** The combined requirements of the scopes: an identity, a type, ancestors. Undefined where the scopes contradict each other. */
function demandsOf(scopes: readonly EntityScope[]) {
  const types = new Set<string>()
  const ids = new Map<string, Reference>()
  const within = new Map<string, Reference>()
  for (const scope of scopes) {
    if (scope.scope === 'eq') ids.set(keyOf(scope), scope)
    if (scope.scope === 'in') within.set(keyOf(scope), { type: scope.type, id: scope.id })
    if (scope.scope === 'is' || scope.scope === 'is_in') types.add(scope.type)
    if (scope.scope === 'is_in') within.set(keyOf(scope.group), scope.group)
  }
  const [self] = ids.values()
  if (self !== undefined) types.add(self.type)
  return types.size > 1 || ids.size > 1 ? undefined : { type: [...types][0], self, within: [...within.values()] }
}

function keyOf({ type, id }: Reference): string {
  return JSON.stringify([type, id])
}

/** A resource of each kind that is in all the scopes; none where that is impossible. */
export function resourcesIn(scopes: readonly EntityScope[]): ResourceWitness[] {
  const demands = demandsOf(scopes)
  if (demands === undefined) return []
  const { type: wanted, self, within } = demands
  return askedTypes
    .filter((type) => wanted === undefined || type === wanted)
    .flatMap((type) => {
      // `in` also holds for the entity itself.
      const own = within.filter((container) => container.type === type)
      const ids = self === undefined ? [freshIds[type], ...own.map(({ id }) => id)] : [self.id]
      return ids.flatMap((id) => placed(type, id, within) ?? [])
    })
}

function placed(type: AskedType, id: string, within: readonly Reference[]): ResourceWitness | undefined {
  const parents = within.filter((container) => container.type !== type || container.id !== id)
  return canBeIn(type, parents) ? { type, id, parents } : undefined
}

/** Whether a resource of the type can have exactly these ancestors. */
export function canBeIn(type: AskedType, ancestors: readonly Reference[]): boolean {
  const accounts = ancestors.filter((one) => one.type === 'cloud_account')
  const may: readonly string[] = ancestorTypes(type)
  return ancestors.every((one) => may.includes(one.type)) && accounts.length <= 1
}

/** A person who is in all the scopes; undefined where that is impossible. */
export function principalIn(scopes: readonly EntityScope[]): PrincipalWitness | undefined {
  const demands = demandsOf(scopes)
  if (demands === undefined || (demands.type ?? 'User') !== 'User') return undefined
  const users = new Set([demands.self, ...demands.within].flatMap((one) => (one?.type === 'User' ? one.id : [])))
  if (users.size > 1) return undefined
  const of = (type: string) => demands.within.filter((one) => one.type === type).map(({ id }) => id)
  return { id: [...users][0] ?? 'somebody', groups: of('Group'), roles: of('Role') }
}
