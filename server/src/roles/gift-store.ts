import { sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import { givenAt } from './membership-store.ts'

/** Whose gifts, and after which moment: values, columns, or selects of one value. */
export type Giving = { giver: Statement; after: Statement }

/**
 * The giver, and every user (`id`) who has received a right since, from them or from another receiver: a select to embed in another
 * statement. A gift that was withdrawn, or that ended with its role, its group or its receiver, counts like one that lasts.
 * `isEarlier`: the database may be of an earlier version, which kept no past gifts.
 *
 * It goes from each giver to their gifts by key, so that its cost depends on the gifts and the receivers, not on the tenant's size.
 */
export function receiversOf(tx: Tx, { giver, after }: Giving, isEarlier = false): Statement {
  const past = isEarlier ? noPastGifts : sql`past_gift`
  const here = sql`tenant_id = ${tx.tenant_id}::uuid`
  const ended = sql`${past} where ${here} and given_by = hand.id and given_at > ${after}`
  const mappings = sql`select group_id, mapped_at, ${forever} from group_role
        where ${here} and mapped_by = hand.id and mapped_at > ${after}
      union all select group_id, given_at, ended_at from ${ended} and user_id is null and group_id is not null`
  const scopes = sql`select role_id, added_at, ${forever} from role_added_scope
        where ${here} and added_by = hand.id and added_at > ${after}
      union all select role_id, given_at, ended_at from ${ended} and user_id is null and group_id is null`
  return sql`with recursive hand (id) as (
      select ${giver}::uuid
      union
      select gift.receiver from hand, lateral (
        select user_id from user_role where ${here} and granted_by = hand.id and granted_at > ${after}
        union all
        select m.user_id from group_member m
          where m.tenant_id = ${tx.tenant_id}::uuid and m.added_by = hand.id and ${givenAt(sql`m`)} > ${after}
        union all
        select user_id from ${ended} and user_id is not null
        union all
        select member.user_id from (${mappings}) as mapping (group_id, since, until),
          lateral (${membersOf(here, past, sql`mapping.group_id`)}) as member (user_id, since, until)
          where ${meet(sql`mapping`, sql`member`)}
        union all
        select holder.user_id from (${scopes}) as added (role_id, since, until),
          lateral (${holdersOf(here, past, sql`added.role_id`)}) as holder (user_id, since, until)
          where ${meet(sql`added`, sql`holder`)}
      ) as gift (receiver))
    select id from hand`
}

/** Whether the giver gave anybody a right since: where not, `receiversOf` finds only the giver. By keys alone. */
export function gaveSince(tx: Tx, { giver, after }: Giving): Statement<boolean> {
  const here = sql`given.tenant_id = ${tx.tenant_id}::uuid`
  return sql<boolean>`(exists (select from user_role given
      where ${here} and given.granted_by = ${giver} and given.granted_at > ${after})
    or exists (select from group_member given
      where ${here} and given.added_by = ${giver} and ${givenAt(sql`given`)} > ${after})
    or exists (select from group_role given
      where ${here} and given.mapped_by = ${giver} and given.mapped_at > ${after})
    or exists (select from role_added_scope given
      where ${here} and given.added_by = ${giver} and given.added_at > ${after})
    or exists (select from past_gift given
      where ${here} and given.given_by = ${giver} and given.given_at > ${after}))`
}

const noPastGifts = sql`(select null::uuid as tenant_id, null::uuid as user_id, null::uuid as group_id,
  null::text as role_id, null::uuid as given_by, null::timestamptz as given_at, null::timestamptz as ended_at,
  null::timestamptz as since
  where false) as past_gift`
const forever = sql`'infinity'::timestamptz`

/** Whether two spans overlap: a gift to a group or a role reaches those who were in it at some time while it lasted. */
function meet(one: Statement, other: Statement): Statement {
  return sql`${one}.since < ${other}.until and ${other}.since < ${one}.until`
}

/** Who is or was in the group, from when until when. */
function membersOf(here: Statement, past: Statement, group_id: Statement): Statement {
  return sql`select user_id, created_at, coalesce(expires_at, ${forever}) from group_member
      where ${here} and group_id = ${group_id}
    union all select user_id, coalesce(since, given_at), ended_at from ${past}
      where ${here} and group_id = ${group_id} and user_id is not null`
}

/** Who holds or held the role, own or by a group, from when until when. */
function holdersOf(here: Statement, past: Statement, role_id: Statement): Statement {
  const mappings = sql`select group_id, mapped_at, ${forever} from group_role where ${here} and role_id = ${role_id}
      union all select group_id, given_at, ended_at from ${past}
        where ${here} and role_id = ${role_id} and user_id is null and group_id is not null`
  return sql`select user_id, granted_at, ${forever} from user_role where ${here} and role_id = ${role_id}
    union all select user_id, given_at, ended_at from ${past}
      where ${here} and role_id = ${role_id} and user_id is not null
    union all select member.user_id, greatest(conferring.since, member.since), least(conferring.until, member.until)
      from (${mappings}) as conferring (group_id, since, until),
        lateral (${membersOf(here, past, sql`conferring.group_id`)}) as member (user_id, since, until)
      where ${meet(sql`conferring`, sql`member`)}`
}
