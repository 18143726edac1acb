import { type Static, Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import type { Tx } from '../kernel/context.ts'
import type { DriverTypes } from '../provisioners/drivers.ts'
import { findInventoried } from './inventory-view-store.ts'
import { type StandingAccess, type StandingFilters, standingFilters } from './standing-access.ts'
import { listStandingAccessPage } from './standing-access-store.ts'

/** Rows fetched at once. An export of any length holds no more than these in memory. */
const batchSize = 500

const text = Type.String()

/** A line of the export: its columns, in this order. */
const StandingAccessLine = Type.Object(
  {
    ...{ account_id: text, account: text, permission_set: text, administrator: text, holder_type: text, holder: text },
    ...{ login: text, via_group: text, user_id: text, grant_id: text },
  },
  { title: 'StandingAccessLine' },
)

/** The same list as a table, for those who review access in one. */
export const exportStandingAccess = (types: DriverTypes) =>
  operation({
    method: 'GET',
    path: '/v1/provisioners/{id}/standing-access/export',
    summary: 'Export who holds which permission set on which account today, as CSV',
    credential: 'any',
    scope: 'provisioners:read',
    params: IdParams,
    query: Type.Object(standingFilters, { additionalProperties: false }),
    replies: { 200: StandingAccessLine },
    streams: 'text/csv',
    fileName: 'standing-access.csv',
    errors: ['not_found'],
    // Before the stream begins, so that what is not found, or cannot be asked for, is a status.
    async prepare({ tx }, { params: { id }, query }) {
      const inventoried = await findInventoried(tx, id, types)
      await listStandingAccessPage(tx, inventoried, query, { limit: 1, after: undefined })
    },
    run: ({ tx }, { params: { id }, query }) => allLines(tx, id, query, types),
  })

async function* allLines(tx: Tx, id: string, filters: StandingFilters, types: DriverTypes) {
  const inventoried = await findInventoried(tx, id, types)
  let after: readonly string[] | undefined
  do {
    const { rows, next } = await listStandingAccessPage(tx, inventoried, filters, { limit: batchSize, after })
    yield* rows.map(lineOf)
    after = next
  } while (after !== undefined)
}

function lineOf(row: StandingAccess): Static<typeof StandingAccessLine> {
  const { account, permission_set, holder, via_group, user_id, grant_id } = row
  const { is_administrator } = permission_set
  return {
    account_id: account.id,
    account: account.name,
    permission_set: permission_set.name,
    administrator: is_administrator === null ? '' : is_administrator ? 'yes' : 'no',
    holder_type: holder.type,
    holder: holder.name,
    login: holder.login ?? '',
    via_group: via_group?.name ?? '',
    user_id: user_id ?? '',
    grant_id: grant_id ?? '',
  }
}
