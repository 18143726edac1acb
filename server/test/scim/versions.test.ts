import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { openScimStage } from '../support/scim-stage.ts'

const { directory } = await openScimStage()
const { call } = directory

const made = { Users: () => directory.user({ userName: 'ada@example.com' }), Groups: () => directory.group('Ops') }
const changed = { Users: { userName: 'ada@example.com', title: 'x' }, Groups: { displayName: 'Ops', externalId: 'x' } }
const operations = {
  Users: [{ op: 'replace', path: 'title', value: 'y' }],
  Groups: [{ op: 'replace', path: 'externalId', value: 'y' }],
}

for (const kind of ['Users', 'Groups'] as const) {
  suite(`the version of one of the ${kind}`, () => {
    let path: string
    let former: string
    const tag = async () => String((await call('GET', path)).headers.etag)
    const put = (match: string) => call('PUT', path, changed[kind], { 'if-match': match })
    const patch = (match: string) => call('PATCH', path, { Operations: operations[kind] }, { 'if-match': match })

    before(async () => {
      path = `/${kind}/${(await made[kind]()).id}`
      former = await tag()
    })

    test('is the same in the header and the body, and asked for again is answered with 304', async () => {
      const read = await call('GET', path)
      assert.equal((read.body.meta as { version: string }).version, read.headers.etag)
      for (const none of [String(read.headers.etag), former.replace('W/', ''), '*', `"1", ${read.headers.etag}`]) {
        const again = await call('GET', path, undefined, { 'if-none-match': none })
        assert.deepEqual([again.status, again.text, again.headers.etag], [304, '', read.headers.etag], none)
      }
      for (const none of ['W/"1"', '1']) {
        assert.equal((await call('GET', path, undefined, { 'if-none-match': none })).status, 200)
      }
    })

    test('is new after each change, and the former one changes nothing any more', async () => {
      const replaced = await put(former)
      assert.equal(replaced.status, 200, replaced.text)
      const next = String(replaced.headers.etag)
      assert.notEqual(next, former)
      for (const reply of [
        await put(former),
        await patch(former),
        await call('DELETE', path, undefined, { 'if-match': former }),
      ]) {
        assert.equal(reply.status, 412, reply.text)
        assert.deepEqual(reply.body.schemas, ['urn:ietf:params:scim:api:messages:2.0:Error'])
      }
      assert.equal(await tag(), next)
      const patched = await patch(`"1", ${next}`)
      assert.ok(patched.status < 300, patched.text)
      assert.notEqual(patched.headers.etag, next)
      assert.equal(await tag(), patched.headers.etag)
    })

    test('lets one of ten calls in that name it', async () => {
      const version = await tag()
      const bodies = Array.from({ length: 10 }, (_, n) => ({
        Operations: [{ op: 'replace', path: kind === 'Users' ? 'title' : 'externalId', value: `${n}` }],
      }))
      const replies = await Promise.all(bodies.map((body) => call('PATCH', path, body, { 'if-match': version })))
      const statuses = replies.map(({ status }) => (status < 300 ? 'in' : status))
      assert.deepEqual(statuses.toSorted(), [...Array(9).fill(412), 'in'])
    })

    test('is any for a star, but only of what is there', async () => {
      assert.equal((await put('*')).status, 200)
      assert.equal((await call('DELETE', path, undefined, { 'if-match': await tag() })).status, 204)
      assert.equal((await put('*')).status, 404)
    })
  })
}
