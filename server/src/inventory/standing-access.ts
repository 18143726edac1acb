import { type Static, Type } from 'typebox'
import { Search } from '../http/list-query.ts'
import { Nullable, OneOf, Uuid } from '../http/schema.ts'
import type { ProvisionerType } from '../provisioners/provisioner.ts'
import type { UserLookup } from '../provisioners/user-lookup.ts'

const Named = Type.Object({ id: Type.String(), name: Type.String() })

/** One person, or a group without members, on one permission set of one account. */
export const StandingAccess = Type.Object(
  {
    account: Named,
    permission_set: Type.Object({
      ...Named.properties,
      is_administrator: Nullable(
        Type.Boolean({ description: 'whether the set makes an administrator; null: not known yet' }),
      ),
    }),
    holder: Type.Object({
      type: OneOf(['person', 'group'], { description: '`group`: a group of which the directory shows no member' }),
      ...Named.properties,
      login: Nullable(
        Type.String({ description: 'the user name in the directory; null: the directory does not know them' }),
      ),
    }),
    via_group: Nullable(
      Type.Object(Named.properties, { description: 'the group that gives it to the person; null: directly' }),
    ),
    user_id: Nullable(Type.String({ ...Uuid, description: 'the user whom the target takes for this person' })),
    grant_id: Nullable(
      Type.String({ ...Uuid, description: 'the live grant that gives it; null: it is there without Sallyport' }),
    ),
  },
  { title: 'StandingAccess' },
)
export type StandingAccess = Static<typeof StandingAccess>

export const standingOrders = ['account', 'person'] as const

/** Ids of a target. */
const TargetId = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 300, description }))

export const standingFilters = {
  account_id: TargetId('the number of the account'),
  person_id: TargetId('the id of a person in the directory: what they hold, themselves and by groups'),
  permission_set: TargetId('the id or the name of the permission set'),
  administrators: Type.Optional(Type.Boolean({ description: 'true: only sets that make an administrator' })),
  order: Type.Optional(
    OneOf(standingOrders, {
      description: '`account` where absent: by the number of the account; `person`: by the name of the holder',
    }),
  ),
  q: Search('the account, the permission set, the holder and the group'),
}

export type StandingFilters = {
  account_id?: string
  person_id?: string
  permission_set?: string
  administrators?: boolean
  order?: (typeof standingOrders)[number]
  q?: string
}

/** A provisioner whose inventory is shown. `lookup`: by what its target finds users; null where it knows no people. */
export type Inventoried = { provisioner_id: string; provisioner: ProvisionerType; lookup: UserLookup | null }
