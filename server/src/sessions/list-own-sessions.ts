import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { PageOf, pageQuery } from '../http/schema.ts'
import { Session } from './session.ts'
import { listSessionsPage } from './session-store.ts'

/** Lists the caller's own live sessions, the newest first. */
export const listOwnSessions = operation({
  method: 'GET',
  path: '/v1/users/me/sessions',
  summary: 'List your own sessions',
  credential: 'user',
  scope: null,
  query: Type.Object(pageQuery, { additionalProperties: false }),
  replies: { 200: PageOf(Session) },
  errors: [],
  async run(ctx, { page }) {
    const rows = await listSessionsPage(ctx.tx, ctx.actor.user_id, page)
    const sessions = rows.map((session) => ({ ...session, current: session.id === ctx.session?.id }))
    return page.of(sessions, ({ id }) => [id])
  },
})
