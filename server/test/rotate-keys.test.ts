import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { suite, test } from 'node:test'
import { rotateTokenKey } from '../src/auth/rotate-token-key.flow.ts'
import { isTokenLive } from '../src/auth/token.ts'
import { openTokenKeys } from '../src/auth/token-keys.flow.ts'
import { rotateKeys } from '../src/commands/rotate-keys.ts'
import { readConfig } from '../src/config/config.ts'
import { newId } from '../src/kernel/id.ts'
import { deriveKey, rootKeyOf, rootKeysOf } from '../src/secrets/root-key.ts'
import { keyVersionOf, seal } from '../src/secrets/seal.ts'
import { sealedColumns } from '../src/secrets/sealed-column-store.ts'
import { openSealer } from '../src/secrets/sealer.ts'
import { createTenant } from '../src/tenants/create-tenant.flow.ts'
import { testDatabase } from './support/database.ts'
import { until } from './support/wait.ts'

const db = await testDatabase()
const owner = { email: 'owner@example.com', name: 'Owner', password: 'correct horse battery' }
const bytes = Array.from({ length: 4 }, () => randomBytes(32)) as [Buffer, Buffer, Buffer, Buffer]
const [first, second, third, fourth] = bytes
const rootsOf = (...keys: Buffer[]) => rootKeysOf(keys.map(rootKeyOf))
const onFailure = (error: unknown) => assert.fail(String(error))
const issuer = 'http://127.0.0.1:8080'
const openTokens = (...keys: Buffer[]) =>
  openTokenKeys({ database: db.database, rootKeys: rootsOf(...keys), issuer, onFailure })
const tokens = await openTokens(first)

/** Runs the operator's command with these root keys. */
const rotate = (keys: Buffer[], options: Parameters<typeof rotateKeys>[2] = {}) => {
  const config = readConfig({ SECRET_KEY: keys.map((key) => key.toString('base64')).join(',') })
  return rotateKeys(config, db.database, options, { log: () => undefined, withPauses: () => assert.fail('it waits') })
}

const place = (id: string) => ({ table: 'identity_provider', id, field: 'sealed_secrets' })

/** A tenant with secrets of its providers: one sealed in the old form, the others in the current form. */
async function makeTenant(name: string, root: Buffer) {
  const tx = db.database.tenant((await createTenant(db.database, { name, owner })).tenant_id)
  const sealer = openSealer(rootsOf(root))
  const ids = [newId(), newId(), newId()]
  for (const [n, id] of ids.entries()) {
    const names = [tx.tenant_id, 'identity_provider', id, 'sealed_secrets']
    const sealed =
      n === 0
        ? seal(deriveKey(root, `seal:${tx.tenant_id}`), `secret ${n}`, names)
        : await sealer.seal(tx, `secret ${n}`, place(id))
    await db.asSuperuser(
      `insert into identity_provider (tenant_id, id, name, provider_type, sealed_secrets)
        values ($1, $2, 'p', 'custom_scim', $3)`,
      [tx.tenant_id, id, sealed],
    )
  }
  const read = async (id: string) => {
    const [row] = await db.asSuperuser<{ sealed: string }>(
      'select sealed_secrets as sealed from identity_provider where id = $1',
      [id],
    )
    return row?.sealed ?? ''
  }
  /** The secrets that a process with only this root key can open. */
  const opened = async (key: Buffer) => {
    const reader = openSealer(rootsOf(key))
    return Promise.all(ids.map(async (id) => reader.unseal(tx, await read(id), place(id))))
  }
  return { tx, ids, read, opened }
}

const secrets = ['secret 0', 'secret 1', 'secret 2']
const tenants = [await makeTenant('A', first), await makeTenant('B', first), await makeTenant('C', first)]
const rootKeys = async () => (await db.asSuperuser<{ id: string }>('select id from root_key')).map(({ id }) => id)

test('the key rotation knows every column of sealed values', async () => {
  const columns = await db.asSuperuser<{ name: string }>(
    `select table_name || '.' || column_name as name from information_schema.columns
      where table_schema = 'public' and column_name like 'sealed_%'
        and table_name not in ('signing_key', 'discovery_key') order by 1`,
  )
  assert.deepEqual(
    sealedColumns.map(({ name }) => name).toSorted(),
    columns.map(({ name }) => name),
  )
})

suite('a new root key', () => {
  test('replaces the old one, which then opens nothing and is not needed (S6)', async () => {
    const { data } = await rotate([second, first])
    assert.deepEqual(data, {
      root_key_id: rootKeyOf(second).id,
      token_keys: 1,
      tenants: 3,
      rewrapped: 3,
      resealed: 3,
      removed: 0,
      needed_beside: [],
    })
    assert.deepEqual(await rootKeys(), [rootKeyOf(second).id])
    for (const { opened } of tenants) {
      assert.deepEqual(await opened(second), secrets)
      await assert.rejects(opened(first))
    }
    await assert.rejects(openTokens(first), /is not the one that this database was sealed with/)
    const user = { tenant_id: newId(), user_id: newId(), session_id: newId(), now: new Date() }
    const { token } = await tokens.issue(user)
    assert.ok(await (await openTokens(second)).verify(token), 'the token keys are the same')
  })

  test('is idempotent: a second run has nothing to do', async () => {
    const { data } = await rotate([second, first])
    const { token_keys, rewrapped, resealed, removed } = data as Record<string, number>
    assert.deepEqual([token_keys, rewrapped, resealed, removed], [0, 0, 0, 0])
  })

  test('is refused if stored values were sealed with a key that is not listed', async () => {
    await assert.rejects(rotate([third]), /list it after the new one/)
    await assert.rejects(rotate([second], { newRoot: true }), /SECRET_KEY is set/)
    await assert.rejects(rotate([second], { endTokens: true }), /--end-tokens needs --token-key/)
    assert.deepEqual(await rootKeys(), [rootKeyOf(second).id])
  })

  test('can be introduced by two commands at once, while tenants seal their first secret', async () => {
    const sealer = openSealer(rootsOf(third, second))
    const made = Array.from({ length: 12 }, async (_, n) => {
      const tx = db.database.tenant((await createTenant(db.database, { name: `new ${n}`, owner })).tenant_id)
      return { tx, sealed: await sealer.seal(tx, 'first', place('x')) }
    })
    const both = [rotate([third, second]), rotate([third, second])]
    const sealed = await Promise.all(made)
    await Promise.all(both)
    await rotate([third, second])
    assert.deepEqual(await rootKeys(), [rootKeyOf(third).id])
    for (const { opened } of tenants) assert.deepEqual(await opened(third), secrets)
    const reader = openSealer(rootsOf(third))
    for (const { tx, sealed: text } of sealed) assert.equal(await reader.unseal(tx, text, place('x')), 'first')
  })

  test('does not replace the old one while a value under it cannot be opened, and names the value', async () => {
    const [{ tx, ids } = assert.fail()] = tenants
    const [id = ''] = ids
    const planted = seal(randomBytes(32), 'x', [tx.tenant_id])
    const [kept] = await db.asSuperuser<{ sealed: string }>(
      `update identity_provider set sealed_secrets = $2 where id = $1 returning
        (select sealed_secrets from identity_provider where id = $1) as sealed`,
      [id, planted],
    )
    await assert.rejects(rotate([fourth, third]), new RegExp(`identity_provider.sealed_secrets of ${id} of tenant`))
    assert.equal((await rootKeys()).length, 2)
    await db.asSuperuser('update identity_provider set sealed_secrets = $2 where id = $1', [id, kept?.sealed])
    await rotate([fourth, third])
    assert.deepEqual(await rootKeys(), [rootKeyOf(fourth).id])
  })

  test('cannot be deleted from the database while a key is wrapped with it', async () => {
    await assert.rejects(db.asSuperuser('delete from root_key'), /tenant_key_root_key_id_fk|signing_key_root_key_id_fk/)
  })

  test('is shown with its values by --check, which changes nothing', async () => {
    const before = await db.asSuperuser('select * from tenant_key order by 1, 2')
    const { data } = await rotate([first, fourth], { check: true })
    assert.deepEqual(data, {
      root_keys: [
        { id: rootKeyOf(first).id, in_use: false, data_keys: 0, token_keys: 0, discovery_keys: 0 },
        { id: rootKeyOf(fourth).id, in_use: true, data_keys: 15, token_keys: 1, discovery_keys: 0 },
      ],
      of_old: { secrets: 0, token_keys: 0 },
    })
    assert.deepEqual(await db.asSuperuser('select * from tenant_key order by 1, 2'), before)
  })
})

suite('new data keys', () => {
  const [{ tx, ids, read, opened } = assert.fail()] = tenants
  const versions = async () => Promise.all(ids.map(async (id) => keyVersionOf(await read(id))))
  const kept = async () =>
    (
      await db.asSuperuser<{ version: number }>('select version from tenant_key where tenant_id = $1 order by 1', [
        tx.tenant_id,
      ])
    ).map(({ version }) => version)

  test('seal every secret again; the old ones stay for an hour, for work in flight', async () => {
    await rotate([fourth], { dataKeys: true })
    assert.deepEqual(await versions(), [2, 2, 2])
    assert.deepEqual(await opened(fourth), secrets)
    assert.deepEqual(await kept(), [1, 2])
    await db.asSuperuser(`update tenant_key set created_at = created_at - interval '61 minutes'`)
    await rotate([fourth])
    assert.deepEqual(await kept(), [2])
    assert.deepEqual(await opened(fourth), secrets)
  })

  test('never replace a secret that was changed meanwhile', async () => {
    const sealer = openSealer(rootsOf(fourth))
    const [id = ''] = ids
    let n = 0
    let over = false
    const changing = (async () => {
      while (!over) {
        n += 1
        const text = await sealer.seal(tx, `change ${n}`, place(id))
        await db.asSuperuser('update identity_provider set sealed_secrets = $2 where id = $1', [id, text])
        assert.equal(await sealer.unseal(tx, await read(id), place(id)), `change ${n}`)
      }
    })()
    for (let round = 0; round < 3; round += 1) await rotate([fourth], { dataKeys: true })
    over = true
    await changing
    assert.equal(await openSealer(rootsOf(fourth)).unseal(tx, await read(id), place(id)), `change ${n}`)
  })
})

suite('a new token key', () => {
  const user = { tenant_id: newId(), user_id: newId(), session_id: newId(), now: new Date() }
  const kidOf = (token: string) => {
    const [head = ''] = token.split('.')
    return (JSON.parse(Buffer.from(head, 'base64url').toString()) as { kid: string }).kid
  }

  test('is published before it signs, and signs from its start time by the database’s clock (A7)', async () => {
    const [one, other] = [await openTokens(fourth), await openTokens(fourth)]
    const before = (await one.issue(user)).token
    const made = await rotateTokenKey(db.database.service, rootKeyOf(fourth), { endTokens: false })
    const lists = async (keys: typeof one) => (await keys.publicKeys()).some(({ kid }) => kid === made.kid)
    await until('both processes publish the new key', async () => (await lists(one)) && (await lists(other)))
    assert.equal(kidOf((await one.issue(user)).token), kidOf(before), 'it does not sign yet')
    const later = { ...user, now: new Date(made.signs_from) }
    const { token } = await one.issue(later)
    assert.equal(kidOf(token), made.kid)
    assert.ok(await other.verify(token))
    const ends = new Date(made.others_retire_at).getTime() / 1000
    const claims = await other.verify(before)
    assert.ok(
      claims !== undefined && claims.exp === claims.iat + 3600 && ends > claims.exp + 60,
      'the earlier token expires as issued',
    )
  })

  test('invalidates every earlier token when it takes over, if requested', async () => {
    const keys = await openTokens(fourth)
    const { token } = await keys.issue(user)
    const made = await rotateTokenKey(db.database.service, rootKeyOf(fourth), { endTokens: true })
    assert.equal(made.signs_from, made.others_retire_at)
    const fresh = await openTokens(fourth)
    const end = Math.floor(Date.parse(made.signs_from) / 1000) - 60
    await until('the running process knows the change', async () => (await keys.publicKeys()).length === 3)
    for (const one of [keys, fresh]) assert.equal((await one.verify(token))?.exp, end)
    await db.asSuperuser('update signing_key set retires_at = clock_timestamp() where retires_at is not null')
    assert.equal(await (await openTokens(fourth)).verify(token), undefined, 'a token with a retired kid is invalid')
  })

  test('ends the others exactly when it takes over, even in a process that did not read the keys for half a minute (A7)', async (t) => {
    const stale = await openTokens(fourth)
    const { token } = await stale.issue(user)
    const before = Date.now()
    const { signs_from } = await rotateTokenKey(db.database.service, rootKeyOf(fourth), { endTokens: true })
    const end = Date.parse(signs_from)
    const now = performance.now()
    t.mock.method(performance, 'now', () => now + 30_000)
    const claims = (await stale.verify(token)) ?? assert.fail('it is valid until then')
    assert.deepEqual([isTokenLive(claims, new Date(end - 1_000)), isTokenLive(claims, new Date(end))], [true, false])
    // A process uses what a token proved for five seconds more.
    assert.ok(end - before > 30_000 + 5_000)
  })
})
