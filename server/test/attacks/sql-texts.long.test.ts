import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Type } from 'typebox'
import { type Operation, operation } from '../../src/http/operation.ts'
import type { Statement } from '../../src/kernel/context.ts'
import { newId } from '../../src/kernel/id.ts'
import { fullBody } from '../support/full-bodies.ts'
import { operations, type Reply } from '../support/house.ts'
import { inTurns } from '../support/in-turns.ts'
import { placesOnce } from '../support/places-once.ts'
import { presentedTo } from '../support/presented.ts'
import { rawStatement } from '../support/raw-statement.ts'
import { rewrittenDatabase } from '../support/rewritten-database.ts'
import { sampleBodies } from '../support/sample-bodies.ts'
import { addressed, makeOfAnyText } from '../support/samples.ts'
import { sliceServer } from '../support/slice-server.ts'
import { openStage } from '../support/stage.ts'
import { textAt, textFields, type Way, withText } from '../support/text-fields.ts'

/**
 * Sends texts that break out of an SQL value in every place for text: path, query and body of every operation. The check does
 * not measure time: no statement's text ever contains a part of what was sent, no answer is 5xx, stored texts are stored
 * unchanged, and searches match the exact text.
 */
const mark = 'zq7x'
const texts = [
  `${mark}' or '1'='1`,
  `${mark}'; drop table policy; --`,
  `${mark}') union select null, version(), null --`,
  `${mark}" or 1=1 --`,
  `${mark}\\' or 1=1 --`,
  `${mark}' || (select secret_hash from api_key limit 1) || '`,
  `${mark}$1 $$${mark}$$ ::uuid`,
  `${mark}/* */ -- `,
  `{${mark},"x"}`,
  `["${mark}"]`,
  `${mark}%_\\`,
  // Becomes a quote when a text is folded to its plain form.
  `${mark}\uff07 or 1=1 --`,
  `1 and 1=(select 1 from pg_sleep(0)) ${mark}`,
]

/** The statements since the last check. */
const executed = new Set<string>()
const listen = (statement: Statement) => {
  executed.add(statement.text)
  return statement
}

/** Returns the statements that contain a part of a sent text, and clears the list. */
function injected(): string[] {
  const found = [...executed].filter((text) => text.toLowerCase().includes(mark))
  executed.clear()
  return found
}

const {
  house,
  ours,
  theirs,
  ourRecords: records,
} = await openStage({}, (database) => rewrittenDatabase(database, listen))
const { tenant_id, owner } = ours

/** Calls as the owner, with a valid request except for the given parts. */
async function send(operation: Operation, changed: { url?: string; body?: unknown }): Promise<Reply> {
  const { method, path, credential } = operation
  return house.call({
    method,
    url: changed.url ?? addressed(path, records),
    ...(changed.body !== undefined && { body: changed.body }),
    ...(credential !== 'none' && credential !== 'tenant' && presentedTo(operation, owner)),
    ...(credential !== 'none' && { tenant_id }),
  })
}

/** In a usual run each place is tried with some of them. */
const someTexts = inTurns(texts, 2)
const isWalked = placesOnce()
/** A password's hash costs a tenth of a second: two of the texts suffice there. */
const textsFor = (operationId: string, way: Way) =>
  operationId === 'login' || way.join().includes('password') ? texts.slice(0, 2) : someTexts()

// Search operations first: they would find texts that later operations store.
for (const [operationId, operation] of Object.entries(operations)) {
  const url = addressed(operation.path, records)
  for (const way of textFields(operation.query)) {
    test(`${operationId} treats SQL as plain text, in its query at ${way.join('/')} (J6)`, async () => {
      const sendText = (text: string) => send(operation, { url: `${url}?${way.join('.')}=${encodeURIComponent(text)}` })
      // A field may take words only.
      const harmless = { word: await sendText('nowhere'), text: await sendText('a text that is nowhere') }
      for (const { status, text } of Object.values(harmless)) assert.ok(status < 500, text)
      for (const text of [mark, ...someTexts()]) {
        const reply = await sendText(text)
        const { status, body } = text === mark ? harmless.word : harmless.text
        assert.deepEqual([reply.status, reply.body.data], [status, body.data], reply.text)
        assert.deepEqual(injected(), [])
      }
    })
  }
}

for (const [operationId, operation] of Object.entries(operations)) {
  const url = addressed(operation.path, records)
  for (const name of operation.path.match(/(?<=\{)\w+(?=\})/g) ?? []) {
    test(`${operationId} treats SQL as plain text, in its path at ${name} (J6)`, async () => {
      for (const text of someTexts()) {
        const hostile = operation.path.replaceAll(/\{(\w+)\}/g, (_all, part: string) =>
          part === name ? encodeURIComponent(text) : newId(),
        )
        const reply = await send(operation, { url: hostile, body: fullBody(operationId) })
        if (makeOfAnyText.includes(operationId) && reply.status === 200) assert.equal(reply.body[name], text)
        else assert.ok([400, 404].includes(reply.status), `${reply.status} ${reply.text}`)
        assert.deepEqual(injected(), [])
      }
    })
  }

  for (const way of textFields(operation.body).filter((one) => isWalked(operationId, one))) {
    test(`${operationId} treats SQL as plain text, in its body at ${way.join('/')} (J6)`, async () => {
      for (const text of textsFor(operationId, way)) {
        const reply = await send(operation, { url, body: withText(fullBody(operationId), way, text) })
        assert.ok(reply.status < 500, reply.text)
        assert.deepEqual(injected(), [])
        const kept = reply.status < 300 ? textAt(reply.body, way) : undefined
        if (typeof kept === 'string') assert.equal(kept === '[redacted]' ? text : kept, text)
        // Many rules would slow down the evaluation of each further one.
        if (operationId === 'createRule' && reply.status === 201)
          await send(operations.deleteRule as Operation, { url: `${url}/${reply.body.id}` })
      }
    })
  }
}

test('a sign-in treats SQL as plain text, in the name of its program (J6)', async () => {
  // In their tenant: ours has too many failed sign-ins by now. A header cannot hold other characters.
  const { tenant_id } = theirs
  for (const text of texts.filter((one) => /^[\x20-\x7e]+$/.test(one))) {
    const signIn = { method: 'POST', url: '/v1/auth/login', body: sampleBodies.login, tenant_id }
    const { body } = await house.call({ ...signIn, headers: { 'user-agent': text } })
    const sessions = { method: 'GET', url: '/v1/users/me/sessions?limit=1', token: String(body.token), tenant_id }
    const [session] = (await house.call(sessions)).body.data as { user_agent: string }[]
    assert.equal(session?.user_agent, text.trim())
    assert.deepEqual(injected(), [])
  }
})

suite('the check for injected SQL', () => {
  const database = rewrittenDatabase(house.database, listen)
  const pasted = (where: (q: string) => string) =>
    operation({
      method: 'GET',
      path: '/v1/planted',
      summary: 'Holds a flaw',
      credential: 'any',
      scope: null,
      query: Type.Object({ q: Type.String() }, { additionalProperties: false }),
      replies: { 200: Type.Object({ found: Type.Integer() }) },
      errors: [],
      run: async ({ tx }, { query }) => ({
        found: (await tx.read(rawStatement(`select 1 from policy where ${where(query.q)}`))).length,
      }),
    })
  const flaws: Record<string, (q: string) => string> = {
    'a text pasted between quotes': (q) => `name = '${q}'`,
    'a text whose quotes are doubled, but pasted': (q) => `name = '${q.replaceAll("'", "''")}'`,
    'a text pasted in lower case': (q) => `lower(name) = '${q.toLowerCase()}'`,
    'a text pasted into a comment': (q) => `true /* ${q.replaceAll('*/', '')} */`,
  }
  for (const [what, where] of Object.entries(flaws)) {
    test(`finds ${what} (J6)`, async () => {
      injected()
      const call = await sliceServer(database, { planted: pasted(where) })
      const caller = { tenant_id, user_id: owner.user_id }
      for (const text of texts) await call(caller, 'GET', `/v1/planted?q=${encodeURIComponent(text)}`)
      assert.ok(injected().length > 0)
    })
  }
})

const digitsIn = (text: string) => text.replaceAll(/\D/g, '')

suite('a search matches the exact text', () => {
  const wild = ['%', '_', "'", '\\', '$1', '"', '.*', '%25', '\\%', '--', '/*']

  test('the words of an account’s name (J7)', async () => {
    const resources = wild.map((text, index) => ({ id: `x${index}`, account_id: 'x', name: `<wild${text}>` }))
    await send(operations.upsertCloudAccounts as Operation, {
      body: { resources: [...resources, { id: 'tame', account_id: 'x' }] },
    })
    for (const text of wild) {
      const reply = await send(operations.listCloudAccounts as Operation, {
        url: `/v1/cloud/accounts?q=${encodeURIComponent(`<wild${text}>`)}`,
      })
      const found = (reply.body.data as { name: string }[]).map(({ name }) => name)
      // The signs separate words: only the words count, here `wild` and a number.
      const expected = wild
        .filter((other) => digitsIn(other).startsWith(digitsIn(text)))
        .map((other) => `<wild${other}>`)
      assert.deepEqual(found.sort(), expected.sort(), text)
    }
  })

  for (const [operationId, url] of [
    ['listGroups', '/v1/groups?source='],
    ['listRequests', '/v1/requests?resource_id='],
    ['listAuditEvents', '/v1/audit-events?subject='],
  ] as const) {
    test(`finds nothing by a wildcard: ${operationId} (J7)`, async () => {
      for (const text of wild) {
        const reply = await send(operations[operationId] as Operation, { url: `${url}${encodeURIComponent(text)}` })
        assert.deepEqual([reply.status, reply.body.data], [200, []], text)
      }
    })
  }

  test('the key of a setting (J7)', async () => {
    for (const text of [...wild, 'requests.require%', 'requests_require_reason', 'REQUESTS.REQUIRE_REASON']) {
      const url = `/v1/settings/${encodeURIComponent(text)}`
      const reply = await send(operations.upsertSetting as Operation, { url, body: { value: 'true' } })
      assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'], text)
    }
  })

  test('the id of a role (J7)', async () => {
    for (const text of [...wild, 'adm%', 'a_min', "admin'--"]) {
      const reply = await send(operations.getRole as Operation, { url: `/v1/roles/${encodeURIComponent(text)}` })
      assert.equal(reply.status, 404, text)
    }
  })
})

test('no table was dropped, and no rows were lost (J6)', async () => {
  const [{ count } = {}] = await house.asSuperuser('select count(*) from policy where tenant_id = $1', [tenant_id])
  assert.notEqual(count, '0')
})
