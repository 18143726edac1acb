import assert from 'node:assert/strict'
import type { AuditEvent } from '../../src/audit/audit-event.ts'
import type { Client, Page, Refusal, Reply } from './client.ts'
import { startOnTestServer } from './sallyport.ts'
import { answerOf, openProviderOfAll, own, redirect_uri } from './sign-in-stage.ts'
import { until } from './wait.ts'

export type Name = 'Owner' | 'Olga' | 'Ada' | 'Ben' | 'Cleo' | 'Dora'
export type Made = { id: string }
export type Grant = Made & { status: string; provisioning_status: string; user_id: string; ended_by: string | null }
type UserNotification = Made & { event_type: string; resource_id: string; body: string }
type Person = Made & { call: Client }

/** The body of a reply, which must have this status. */
export async function answered<Body>(status: number, reply: Promise<Reply<Body>>): Promise<Body> {
  const { status: got, body } = await reply
  assert.equal(got, status, JSON.stringify(body))
  return body
}

/** The error object of a reply, which must be this refusal. */
export async function refused(status: number, code: string, reply: Promise<Reply<Refusal>>): Promise<Refusal> {
  const body = await answered(status, reply)
  assert.equal(body.code, code, body.message)
  return body
}

/**
 * The service as a process, a certified provider, and named users of one tenant. The owner still has to configure the
 * provider.
 */
export async function openWorkingDay() {
  const idp = await openProviderOfAll()
  const sallyport = await startOnTestServer({ EGRESS_ALLOW: '127.0.0.1' })
  const { bootstrap, client } = sallyport
  const people = new Map<Name, Person>()
  const words = new Map([[bootstrap.tenant_id, 'the tenant']])
  const anonymous = client(undefined)

  function as(name: Name): Client {
    const person = people.get(name)
    assert.ok(person, `${name} has not signed in`)
    return person.call
  }
  /** Creates something that log lines name `word`; returns its id. */
  async function make(by: Name, path: string, body: unknown, word: string): Promise<string> {
    const { id } = await answered(201, as(by)<Made>('POST', path, body))
    words.set(id, word)
    return id
  }
  /** Gives the user of this token this name, as the service identifies them. */
  async function enter(name: Name, token: string): Promise<{ id: string; auth_provider: string }> {
    const call = client({ token })
    const me = await answered(200, call<Made & { auth_provider: string }>('GET', '/v1/users/me/profile'))
    people.set(name, { id: me.id, call })
    words.set(me.id, name)
    return me
  }
  const signIn = (name: Name) => signInAt(idp, anonymous, bootstrap.tenant_id, name)

  return {
    provider: { issuer: idp.issuer, client_id: own.client_id, client_secret: own.client_secret },
    client,
    as,
    idOf: (name: Name) => people.get(name)?.id ?? '',
    words,
    make,
    signIn,
    async enterOwner(): Promise<void> {
      const { email, password } = bootstrap.admin
      const login = anonymous<{ token: string }>('POST', '/v1/auth/login', { email, password })
      await enter('Owner', (await answered(200, login)).token)
    },
    /** Creates a user for the provider by their address, signs them in, and asserts that both are the same user. */
    async invite(by: Name, name: Name, roles: string[]): Promise<void> {
      const id = await make(by, '/v1/users', { email: addressOf(name), name, roles, auth_provider: 'oidc' }, name)
      const me = await enter(name, (await answered(200, signIn(name))).token)
      assert.deepEqual([me.id, me.auth_provider], [id, 'oidc'])
    },
    /** The number of assignments that the sandbox, which is the target, holds now. */
    heldAtTarget: async () => (await sallyport.asSuperuser('select key from sandbox_assignment')).length,
    grantOf: (by: Name, request_id: string, wanted: Partial<Grant>) => untilGranted(as(by), request_id, wanted),
    untilNotified: (name: Name, event_type: string, resource_id: string) =>
      untilNotified(as(name), event_type, resource_id),
    lineOf: (event: AuditEvent) => lineOf(event, words),
  }
}

const addressOf = (name: Name) => `${name.toLowerCase()}@example.com`

/** Signs in through the provider and back; returns the answer of endpoint 1. */
async function signInAt(
  idp: Awaited<ReturnType<typeof openProviderOfAll>>,
  anonymous: Client,
  tenant: string,
  name: Name,
): Promise<Reply<{ token: string } & Refusal>> {
  const unnamed = { 'x-tenant-id': undefined }
  const query = new URLSearchParams({ tenant, redirect_uri })
  const begun = await anonymous('GET', `/v1/auth/authorize?${query}`, undefined, unnamed)
  assert.equal(begun.status, 302, JSON.stringify(begun.body))
  const claims = { email: addressOf(name), email_verified: true, name }
  const back = await idp.signIn(begun.headers.get('location') ?? '', `account of ${name}`, claims)
  return anonymous('POST', '/v1/auth/callback', answerOf(back), unnamed)
}

function untilGranted(call: Client, request_id: string, wanted: Partial<Grant>): Promise<Grant> {
  return until(`the grant is ${JSON.stringify(wanted)}`, async () => {
    const { data } = await answered(200, call<Page<Grant>>('GET', `/v1/grants?request_id=${request_id}`))
    return data.find((one) => Object.entries(wanted).every(([key, value]) => one[key as keyof Grant] === value))
  })
}

function untilNotified(call: Client, event_type: string, resource_id: string): Promise<UserNotification> {
  return until(`a user is notified of ${event_type}`, async () => {
    const { data } = await answered(200, call<Page<UserNotification>>('GET', '/v1/users/me/notifications?unread=true'))
    return data.find((one) => one.event_type === event_type && one.resource_id === resource_id)
  })
}

/** One event in words; an id without a name is replaced by its kind. */
export function lineOf({ actor, type, subject }: AuditEvent, words: ReadonlyMap<string, string>): string {
  const named = (id: string | null, otherwise: string) => words.get(id ?? '') ?? otherwise
  const person = actor.id === null ? `the ${actor.kind}` : named(actor.id, 'somebody')
  const who = actor.kind === 'api_key' ? `${person} by ${named(actor.api_key_id, 'some key')}` : person
  const isId = /^[0-9a-f]{8}-/.test(subject.id)
  return `${who}: ${type} ${named(subject.id, isId ? `some ${subject.type}` : subject.id)}`
}
