import type { ListOrder } from './list-page.ts'
import { sql } from './sql.ts'

/** The orders that lists have in common, of their table `r`. */
type Order = Omit<ListOrder, 'descending'>

const [id, uuid] = [sql`r.id`, sql`uuid`]

/** By their ids records are in the order of creation too: the usual order, as long as nothing asks for moments. */
export const byId: Order = { by: id, id, types: [uuid, uuid] }
export const byCreation: Order = { by: sql`r.created_at`, types: [sql`timestamptz`, uuid] }
export const byName: Order = { by: sql`r.name_key`, types: [sql`text`, uuid] }
