import { randomBytes } from 'node:crypto'
import { text as textFrom } from 'node:stream/consumers'
import type { LightMyRequestResponse } from 'fastify'
import { insertApiKey } from '../../src/api-keys/api-key-store.ts'
import { makeKeyText } from '../../src/api-keys/api-key-text.ts'
import { driverTypes } from '../../src/app.ts'
import { openTokenKeys, type TokenKeys } from '../../src/auth/token-keys.flow.ts'
import { readConfig } from '../../src/config/config.ts'
import type { Environment } from '../../src/config/variables.ts'
import { sql } from '../../src/db/sql.ts'
import { type Database, openDatabase } from '../../src/db/transaction.ts'
import { systemActor, type Tx, type WorkCtx } from '../../src/kernel/context.ts'
import { newId } from '../../src/kernel/id.ts'
import { operations } from '../../src/operations.ts'
import { type SystemRoleId, systemRoles } from '../../src/roles/role.ts'
import { rootKeyOf, rootKeysOf } from '../../src/secrets/root-key.ts'
import { type App, createApp } from '../../src/serve.ts'
import { insertTenant, operatorCtx, type TenantToInsert } from '../../src/tenants/create-tenant.flow.ts'
import { ownerRoles } from '../../src/tenants/tenant.ts'
import { insertUser } from '../../src/users/user-store.ts'
import { type TestDatabase, testDatabase } from './database.ts'
import { answersAsDescribed } from './described.ts'
import { formOf, formType } from './form.ts'
import { beginSession } from './session.ts'
import { unlimited } from './unlimited.ts'
import { unlogged } from './unlogged.ts'

export { operations }

const { requireDescribed, operationOf } = answersAsDescribed(operations)

/** A user of a tenant, with a token and an API key that have all of the user's permissions. */
export type Person = { user_id: string; token: string; api_key: string }

/** A tenant with its owner and one person for each system role. */
export type TestTenant = { tenant_id: string; owner: Person; people: Record<SystemRoleId, Person> }

export type Call = {
  method: string
  url: string
  token?: string
  api_key?: string
  tenant_id?: string
  body?: unknown
  headers?: Record<string, string>
}
export type Reply = { status: number; body: Record<string, unknown>; text: string; headers: Record<string, unknown> }

/**
 * The whole service on this file's own database, called without a socket. Its workers do not run. `through`: a layer between
 * the service and its database. `follows`: it follows changes of rights, and so keeps credentials for moments.
 */
export async function openHouse(env: Environment = {}, through: Through = itself, follows = false): Promise<House> {
  return houseOn(await testDatabase(), { env, through, follows, rootKey: randomBytes(32) })
}

/** A layer between the service and its database. */
export type Through = (database: Database) => Database
const itself: Through = (database) => database

type HouseOptions = {
  env?: Environment
  through?: Through
  rootKey: Buffer
  /** It learns of changes of rights by other processes, so it caches what credentials prove. */
  follows?: boolean
  /** How long it listens for another holder of a target before it writes a claim further. Left out: as in use. */
  claimListenMs?: number
}

/** The same on a database that may already contain data, sealed with this key. */
export async function houseOn(
  db: TestDatabase,
  { env = {}, through = itself, rootKey, follows = false, claimListenMs }: HouseOptions,
) {
  const database = through(db.database)
  const confirming = openDatabase(db.service, { writes: 1, long: 3 })
  const rootKeys = rootKeysOf([rootKeyOf(rootKey)])
  const config = readConfig({ ...unlimited, ...env })
  const onFailure = (error: unknown) => console.error(error)
  const tokenKeys = await openTokenKeys({ database, rootKeys, issuer: config.public_url, onFailure })
  const databases = { database, confirming, background: database, ...(follows && { listenTo: db.service }) }
  // Its writes would come between those that a test counts.
  const presence = { beat: async () => undefined, others: async () => [], leave: async () => undefined }
  const keys = { rootKeys, tokenKeys }
  const app = await createApp({ config, ...unlogged, ...databases, presence, ...keys, driverTypes, claimListenMs })
  db.atEnd(async () => {
    await app.stop()
    await confirming.close()
  })
  return {
    ...db,
    app,
    rootKeys,
    call: (call: Call) => callApp(app, call),
    /** A tenant of its own, with people in it. It requires no reason and allows half a day, unless its settings stay as they are made. */
    tenant: (name: string, { withDefaults = false } = {}) => makeTenant(db.database, tokenKeys, name, withDefaults),
    /** Gives an existing user a token, and a key without permissions. */
    person: (tenant_id: string, user_id: string) =>
      equip(testCtx(db.database.tenant(tenant_id)), tokenKeys, user_id, []),
    /** A token as if it had been issued at that moment. */
    tokenOf: async (tenant_id: string, user_id: string, now: Date) =>
      issueToken(db.database.tenant(tenant_id), tokenKeys, user_id, now),
    /** The same person, with a token of another session of theirs. */
    signInAgain: async (tenant_id: string, person: Person): Promise<Person> => ({
      ...person,
      token: await issueToken(db.database.tenant(tenant_id), tokenKeys, person.user_id, new Date()),
    }),
    /** Makes a session for a user, so that a path can address it by id. */
    session: (tenant_id: string, user_id: string) => beginSession(db.database.tenant(tenant_id), user_id),
    /** Makes a notification for a user, so that a path can address it by id. */
    notification: (tenant_id: string, user_id: string) => makeNotification(db.database.tenant(tenant_id), user_id),
  }
}

export type House = Awaited<ReturnType<typeof houseOn>>

function testCtx(tx: Tx): WorkCtx {
  return { tx, actor: systemActor, request_id: 'test' }
}

/** A password and its hash over 8 KiB in one pass: the service's own hash takes 50 ms to make and to check. */
export const cheapPassword = {
  text: 'a long enough password',
  hash: '$argon2id$v=19$m=8,t=1,p=1$YSBzYWx0IG9mIHRlc3RzIQ$/q3M8W2tZdCS82VrkWZOXNTgpfnH4oShe7bLmypDo8Q',
}

/** Hundreds of tenants have this owner. */
const owner: TenantToInsert['owner'] = {
  email: 'owner@example.com',
  name: 'Owner',
  auth_provider: 'local',
  roles: [...ownerRoles],
  avatar_base64: null,
  password_hash: cheapPassword.hash,
}

/** What most tests rely on: requests without a reason, and of up to 12 hours. */
const easySettings = { 'requests.require_reason': 'false', 'requests.max_duration_seconds': '43200' }

/** The insert of settings, without their events. */
function settingsInsert(tx: Tx, settings: Readonly<Record<string, string>>) {
  return sql`insert into setting (tenant_id, key, value)
    select ${tx.tenant_id}::uuid, key, value from jsonb_each_text(${JSON.stringify(settings)}::jsonb)`
}

async function makeTenant(
  database: Database,
  tokenKeys: TokenKeys,
  name: string,
  withDefaults: boolean,
): Promise<TestTenant> {
  const tx = database.tenant(newId())
  const ownerMade = await tx.interactive(async (inside) => {
    const made = await insertTenant(operatorCtx(inside), { name, owner })
    if (!withDefaults) await inside.write([settingsInsert(inside, easySettings)])
    return made
  })
  const ctx = testCtx(tx)
  const people: Partial<Record<SystemRoleId, Person>> = {}
  for (const [role, { scopes }] of Object.entries(systemRoles)) {
    const user = await insertUser(ctx, {
      id: newId(),
      email: `${role}@example.com`,
      name: role,
      auth_provider: 'local',
      // A user who manages roles makes auditors; creating a user cannot. Here all are made alike.
      roles: [role as 'user'],
      avatar_base64: null,
      password_hash: null,
      is_owner: false,
    })
    people[role as SystemRoleId] = await equip(ctx, tokenKeys, user.id, scopes)
  }
  return {
    tenant_id: tx.tenant_id,
    owner: await equip(ctx, tokenKeys, ownerMade.id, systemRoles.admin.scopes),
    people: people as Record<SystemRoleId, Person>,
  }
}

/** Gives a user a token, and a key with these scopes. */
async function equip(ctx: WorkCtx, tokenKeys: TokenKeys, user_id: string, scopes: readonly string[]): Promise<Person> {
  const token = await issueToken(ctx.tx, tokenKeys, user_id, new Date())
  const { id, text, secret_hash } = makeKeyText('api')
  const key = { id, name: 'a key', secret_hash, scopes: [...scopes], created_by: user_id, expires_at: null }
  await insertApiKey(ctx, key)
  return { user_id, token, api_key: text }
}

async function issueToken(tx: Tx, tokenKeys: TokenKeys, user_id: string, now: Date): Promise<string> {
  const session_id = await beginSession(tx, user_id)
  return (await tokenKeys.issue({ tenant_id: tx.tenant_id, user_id, session_id, now })).token
}

async function callApp(app: App, { method, url, token, api_key, tenant_id, body, headers }: Call): Promise<Reply> {
  const isForm = operationOf(method, url)?.bodyType === 'form'
  const reply = await app.server.inject({
    method: method as 'GET',
    payloadAsStream: true,
    url,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(api_key !== undefined && { 'x-api-key': api_key }),
      ...(tenant_id !== undefined && { 'x-tenant-id': tenant_id }),
      ...(body !== undefined && { 'content-type': isForm ? formType : 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { payload: textOf(body, isForm) }),
  })
  const type = String(reply.headers['content-type'])
  const text = await (type.startsWith('text/event-stream') ? firstOf(reply) : textFrom(reply.stream()))
  const json = text !== '' && type.startsWith('application/json') ? (JSON.parse(text) as Record<string, unknown>) : {}
  const answer = { status: reply.statusCode, body: json, text, headers: reply.headers }
  requireDescribed(method, url, answer)
  return answer
}

/** A body in the form that the operation takes; text is sent as it is. */
function textOf(body: unknown, isForm: boolean): string {
  if (typeof body === 'string') return body
  return isForm && typeof body === 'object' && body !== null ? formOf(body) : JSON.stringify(body)
}

/** The first chunk of an endless stream; then the caller disconnects. */
async function firstOf(reply: LightMyRequestResponse): Promise<string> {
  let text = ''
  for await (const some of reply.stream().setEncoding('utf8')) {
    text += some
    if (text.includes('\n\n')) break
  }
  reply.raw.res.destroy()
  return text
}

async function makeNotification(tx: Tx, user_id: string): Promise<string> {
  const [id, event_id] = [newId(), newId()]
  await tx.write([
    sql`insert into event (tenant_id, id, type, actor_kind, subject_type, subject_id, request_id)
      values (${tx.tenant_id}, ${event_id}, 'request.created', 'system', 'request', ${newId()}, 'test')`,
    sql`insert into notification (tenant_id, id, user_id, event_id, event_type, title, body)
      values (${tx.tenant_id}, ${id}, ${user_id}, ${event_id}, 'request.created', 'title', 'body')`,
  ])
  return id
}
