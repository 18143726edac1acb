import type { FastifyInstance } from 'fastify'
import type { Version } from '../config/version.ts'
import { Problem } from '../kernel/errors.ts'
import { replyProblem } from './error-reply.ts'

export type Health = {
  /** What `/livez` says runs here. */
  version: Version
  /** Undefined when this process can serve, else a sentence that says what is missing. */
  findUnreadiness(): Promise<string | undefined>
}

/** `/livez` answers as long as the process runs, `/readyz` as long as it can serve. */
export function serveHealth(server: FastifyInstance, { version: running, findUnreadiness }: Health): void {
  const { version, commit = null } = running
  server.get('/livez', async () => ({ status: 'alive', version, commit }))
  server.get('/readyz', async (_request, reply) => {
    const missing = await findUnreadiness()
    // An answer, not a fault: a load balancer checks every second, and the log has the cause already.
    return missing === undefined ? { status: 'ready' } : replyProblem(reply, new Problem('unavailable', missing))
  })
}

/** Whether a load balancer asks, every second: its questions would hide all others in the log. */
export const isProbe = (path: string | undefined) => path === '/livez' || path === '/readyz'
