import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { suite, test } from 'node:test'
import { openHouse } from '../support/house.ts'

/** The tenant header in every spelling that some parser reads differently. Over a real socket. */
const house = await openHouse()
const ours = await house.tenant('ours')
const theirs = await house.tenant('theirs')
const address = await house.app.server.listen({ host: '127.0.0.1', port: 0 })
const port = Number(new URL(address).port)
const id = ours.tenant_id

/** Lists our policies with these header lines besides the credential, and reads the whole answer. */
async function listWith(...lines: string[]): Promise<{ status: number; code: string | undefined }> {
  const socket = connect(port, '127.0.0.1')
  const head = ['GET /v1/policies HTTP/1.1', 'Host: x', 'Connection: close', `X-API-Key: ${ours.owner.api_key}`]
  socket.write(Buffer.from(`${[...head, ...lines].join('\r\n')}\r\n\r\n`, 'latin1'))
  const answer = await text(socket)
  const body = answer.slice(answer.indexOf('\r\n\r\n') + 4)
  return { status: Number(answer.split(' ')[1]), code: (JSON.parse(body) as { code?: string }).code }
}

suite('the tenant that a request names', () => {
  const spellings: [string, string, number, string | undefined][] = [
    ['unchanged', id, 200, undefined],
    ['in upper case is the same tenant', id.toUpperCase(), 200, undefined],
    ['in mixed case is the same tenant', id.replace(/[a-f]/, (letter) => letter.toUpperCase()), 200, undefined],
    ['with white space around it, which HTTP ignores', `  ${id}\t `, 200, undefined],
    ['empty', '', 400, 'invalid_input'],
    ['only spaces', '   ', 400, 'invalid_input'],
    ['the word null', 'null', 400, 'invalid_input'],
    ['the word undefined', 'undefined', 400, 'invalid_input'],
    ['that is not a uuid', 'acme', 400, 'invalid_input'],
    ['in braces', `{${id}}`, 400, 'invalid_input'],
    ['without hyphens', id.replaceAll('-', ''), 400, 'invalid_input'],
    ['with hyphens elsewhere', id.replace('-', '').replace(/(.{4})/, '$1-'), 400, 'invalid_input'],
    ['as a urn', `urn:uuid:${id}`, 400, 'invalid_input'],
    ['in quotes', `"${id}"`, 400, 'invalid_input'],
    ['after a space that is not HTTP’s', `\u00a0${id}`, 400, 'invalid_input'],
    ['with a vertical tab after it', `${id}\u000b`, 400, 'invalid_input'],
    ['with a wildcard', `${id.slice(0, -1)}%`, 400, 'invalid_input'],
    ['twice in one header, the same', `${id}, ${id}`, 400, 'invalid_input'],
    ['twice in one header, another first', `${theirs.tenant_id},${id}`, 400, 'invalid_input'],
    ['with a parameter', `${id}; tenant=${theirs.tenant_id}`, 400, 'invalid_input'],
    ['with NUL after it', `${id}\0`, 400, 'invalid_input'],
    ['with NUL within', `${id.slice(0, 9)}\0${id.slice(9)}`, 400, 'invalid_input'],
    ['with a bare line feed and another header after it', `${id}\nX-Other: y`, 400, 'invalid_input'],
  ]
  for (const [spelling, value, status, code] of spellings) {
    const outcome = status === 200 ? '' : ' is refused'
    const caseId = /NUL|line feed/.test(spelling) ? 'T4' : 'T3'
    test(`${spelling}${outcome} (${caseId})`, async () => {
      assert.deepEqual(await listWith(`X-Tenant-ID: ${value}`), { status, code })
    })
  }

  test('not at all is refused, also with a similar header name (T3)', async () => {
    for (const line of ['', `X_Tenant_ID: ${id}`, `Tenant-ID: ${id}`, `X-Tenant-ID-: ${id}`]) {
      const lines = line === '' ? [] : [line]
      assert.deepEqual(await listWith(...lines), { status: 400, code: 'invalid_input' }, line)
    }
  })

  test('in query, cookie or body is not read there (T3)', async () => {
    const reply = await house.call({
      method: 'POST',
      url: '/v1/policies',
      api_key: ours.owner.api_key,
      headers: { cookie: `X-Tenant-ID=${id}; tenant_id=${id}` },
      body: { name: 'a policy', tenant_id: id },
    })
    assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'])
    const { fields } = reply.body.details as { fields: { pointer: string }[] }
    assert.equal(fields[0]?.pointer, 'X-Tenant-ID')
  })
})

suite('a tenant named twice is refused, whichever is first', () => {
  const other = theirs.tenant_id
  const pairs: [string, string[]][] = [
    ['the same', [`X-Tenant-ID: ${id}`, `X-Tenant-ID: ${id}`]],
    ['ours first', [`X-Tenant-ID: ${id}`, `X-Tenant-ID: ${other}`]],
    ['theirs first', [`X-Tenant-ID: ${other}`, `X-Tenant-ID: ${id}`]],
    ['in header names of mixed case', [`X-Tenant-ID: ${id}`, `x-TENANT-id: ${id}`]],
    ['apart from each other', [`x-tenant-id: ${id}`, 'Accept: */*', `X-Tenant-Id: ${other}`]],
    ['once empty', [`X-Tenant-ID: ${id}`, 'X-Tenant-ID:']],
    ['three times', [`X-Tenant-ID: ${id}`, `X-Tenant-ID: ${id}`, `X-Tenant-ID: ${id}`]],
  ]
  for (const [how, lines] of pairs) {
    test(`${how} (T4)`, async () => {
      assert.deepEqual(await listWith(...lines), { status: 400, code: 'ambiguous_credentials' })
    })
  }

  for (const [what, line] of [
    ['a tab', `X-Tenant-ID: ${id}\r\n\t${other}`],
    ['a space', `X-Tenant-ID:\r\n ${id}`],
  ] as const) {
    test(`folded over two lines by ${what} (T4)`, async () => {
      assert.deepEqual(await listWith(line), { status: 400, code: 'invalid_input' })
    })
  }

  test('a header name with a space before its colon (T4)', async () => {
    assert.deepEqual(await listWith(`X-Tenant-ID : ${id}`), { status: 400, code: 'invalid_input' })
  })

  test('a tenant in a trailer after the body does not count (T4)', async () => {
    const chunked = ['Transfer-Encoding: chunked', 'Trailer: X-Tenant-ID', '', `0\r\nX-Tenant-ID: ${id}`]
    assert.deepEqual(await listWith(...chunked), { status: 400, code: 'invalid_input' })
    assert.equal((await listWith(`X-Tenant-ID: ${id}`, ...chunked.with(-1, `0\r\nX-Tenant-ID: ${other}`))).status, 200)
  })
})
