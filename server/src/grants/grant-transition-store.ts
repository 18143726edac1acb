import { sql, sqlLiteral } from '../db/sql.ts'
import type { Statement } from '../kernel/context.ts'
import { type GrantChange, transitionsOf } from './grant-transition.ts'

/**
 * The assignments of the change on the grant `g`: status, provisioning status, and for an end its moment and reason. Use it in
 * the `set` of an update whose `where` has `isBefore` of the same change. A pair of statuses that the table does not list is
 * changed like the last row, so that no grant outlives its end because of an unforeseen state.
 * @param reason why the grant ends, if the caller gives a reason
 */
export function assign(change: GrantChange, reason: Statement = sql`null::text`): Statement {
  return sql`${assignStatus(change, reason)}provisioning_status = ${provisioningAfter(change)}`
}

function assignStatus(change: GrantChange, reason: Statement): Statement {
  const [{ to, reason: listedReason } = {}] = transitionsOf(change)
  if (to === undefined) return sql``
  const status = sql`status = ${sqlLiteral(to)}, `
  if (to === 'active') return status
  if (to === 'pending') return sql`${status}ended_at = null, end_reason = null, `
  const endReason = (text: string) => (text === 'given' ? reason : sqlLiteral(text))
  const why = listedReason === undefined ? sql`` : sql`end_reason = ${endReason(listedReason)}, `
  return sql`${status}ended_at = clock_timestamp(), ${why}`
}

/** The same for one of two changes that lead to the same status: the first if the condition holds, else the second. */
export function assignEither(condition: Statement, one: GrantChange, other: GrantChange): Statement {
  const [first, second] = [provisioningAfter(one), provisioningAfter(other)]
  return sql`${assignStatus(one, sql`null::text`)}provisioning_status =
    case when ${condition} then ${first} else ${second} end`
}

/** The provisioning status that the change leaves the grant `g` with. */
function provisioningAfter(change: GrantChange): Statement {
  const rows = [...transitionsOf(change)]
  const last = rows.pop()
  if (last === undefined) throw new Error(`\`grantTransitions\` has no change \`${change}\``)
  const others = rows.filter(({ becomes }) => becomes !== last.becomes)
  if (others.length === 0) return sqlLiteral(last.becomes)
  const cases = others.flatMap(({ was, becomes }) =>
    was.map((one) => sql`when ${sqlLiteral(one)} then ${sqlLiteral(becomes)} `),
  )
  const listed = cases.reduce((all, next) => sql`${all}${next}`)
  return sql`case g.provisioning_status ${listed}else ${sqlLiteral(last.becomes)} end`
}

/** Whether the grant `g` has a status from which the change may start. */
export function isBefore(change: GrantChange): Statement {
  const statuses = new Set(transitionsOf(change).flatMap(({ from }) => from))
  return sql`g.status in (${listed([...statuses])})`
}

function listed(values: readonly string[]): Statement {
  return values.map(sqlLiteral).reduce((all, next) => sql`${all}, ${next}`)
}

/** The number of steps outside the life cycle since the database was created; read it as `sallyport_work`. */
export function unforeseenSteps(): Statement<{ steps: number }> {
  return sql<{ steps: number }>`select (case when is_called then last_value else 0 end)::float8 as steps
    from unforeseen_grant_step`
}
