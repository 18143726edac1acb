import { after } from 'node:test'
import type { Database } from '../../src/db/transaction.ts'
import type { Admission } from '../../src/http/admission.ts'
import { cursorCodec } from '../../src/http/cursor.ts'
import type { Operation } from '../../src/http/operation.ts'
import type { PipelineParts } from '../../src/http/pipeline.ts'
import { buildServer } from '../../src/http/server.ts'
import { sessionCookie } from '../../src/http/session-cookie.ts'
import type { Actor } from '../../src/kernel/context.ts'
import { newId } from '../../src/kernel/id.ts'
import { derivedKeys, rootKeyOf, rootKeysOf } from '../../src/secrets/root-key.ts'
import { openSealer } from '../../src/secrets/sealer.ts'
import { answersAsDescribed } from './described.ts'
import { noDiscovery } from './no-discovery.ts'
import { noEgress } from './no-egress.ts'
import { noProviders } from './no-providers.ts'
import { noStreamHub } from './no-stream-hub.ts'
import { unlogged } from './unlogged.ts'

/** The caller: the facts that a checked credential would have proved. */
export type Caller = { tenant_id: string; user_id: string; scopes?: readonly string[]; kind?: 'user' | 'api_key' }

/** `text` if the answer is plain text. */
export type Answer = { status: number; body: Record<string, unknown>; text?: string }

/**
 * Some operations behind the real pipeline and the real database, called as the caller that the test names: for tests of a
 * slice that are not about credentials. It never listens; closed when the file's tests are done. `own`: parts of the test's own.
 */
export async function sliceServer(
  database: Database,
  operations: Record<string, Operation>,
  own: Partial<PipelineParts> = {},
) {
  const rootKeys = rootKeysOf([rootKeyOf(Buffer.alloc(32, 7))])
  const server = await buildServer({
    operations,
    parts: {
      database,
      cursors: cursorCodec(derivedKeys(rootKeys, 'cursor')),
      tokens: { issue: () => Promise.reject(new Error('no tokens here')), publicKeys: async () => [] },
      sealer: openSealer(rootKeys),
      egress: noEgress,
      public_url: 'http://127.0.0.1',
      sends_mail: false,
      providerSignIn: noProviders(database),
      discovery: noDiscovery,
      sessionCookie: sessionCookie('http://127.0.0.1'),
      streams: noStreamHub,
      authenticate: async ({ authorization }) => (authorization === undefined ? undefined : admit(authorization)),
      prove: async ({ authorization }) => (authorization === undefined ? undefined : admit(authorization)),
      dropAdmissions: () => undefined,
      recordRefusal: async () => undefined,
      afterWrite: () => undefined,
      ...own,
    },
    findUnreadiness: async () => undefined,
    trustProxy: false,
    publicUrl: 'http://127.0.0.1',
    ...unlogged,
  })
  after(() => server.close())
  const { requireDescribed } = answersAsDescribed(operations)
  return async (
    caller: Caller,
    method: Operation['method'],
    url: string,
    body?: unknown,
    more: Record<string, string> = {},
  ): Promise<Answer> => {
    const reply = await server.inject({
      method,
      url,
      headers: {
        authorization: JSON.stringify(caller),
        'x-tenant-id': caller.tenant_id,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...more,
      },
      ...(body !== undefined && {
        payload: more['content-type'] === 'text/plain' ? String(body) : JSON.stringify(body),
      }),
    })
    requireDescribed(method, url, { status: reply.statusCode, text: reply.body, headers: reply.headers })
    if (/^text\/(?:plain|csv)/.test(String(reply.headers['content-type']))) {
      return { status: reply.statusCode, body: {}, text: reply.body }
    }
    return { status: reply.statusCode, body: reply.body === '' ? {} : reply.json() }
  }
}

function admit(authorization: string): Admission {
  const { tenant_id, user_id, scopes = [], kind = 'user' } = JSON.parse(authorization) as Caller
  const actor: Actor = { kind, user_id, api_key_id: kind === 'api_key' ? newId() : null, scopes: new Set(scopes) }
  return {
    tenant_id,
    actor,
    via: kind === 'user' ? 'token' : 'api_key',
    session: null,
    tenant_suspended: false,
    now: new Date(),
  }
}
