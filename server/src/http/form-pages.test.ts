import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse } from '../../test/support/house.ts'
import { visitorOf } from '../../test/support/page-visitor.ts'
import { newId } from '../kernel/id.ts'

const own = 'http://localhost:8080'
const house = await openHouse({ PUBLIC_URL: own })
const path = `/requests/${newId()}`

suite('a page', () => {
  test('at another name of this machine leads to the own one, with its query', async () => {
    for (const host of ['127.0.0.1:8080', '[::1]:8080']) {
      const reply = await visitorOf(house, own).open(`${path}?t=acme`, { host })
      assert.deepEqual([reply.status, reply.headers.location], [302, `${own}${path}?t=acme`])
    }
    assert.equal((await visitorOf(house, own).open(path, { host: 'localhost:8080' })).status, 200)
  })

  test('at plain http to another host says that browsers cannot sign in there', async () => {
    const outside = await openHouse({ PUBLIC_URL: 'http://sallyport.example.com' })
    const reply = await visitorOf(outside, 'http://sallyport.example.com').open(path)
    assert.equal(reply.status, 421)
    assert.match(
      reply.text,
      /Browsers cannot sign in at http:\/\/sallyport\.example\.com: it is neither https nor loopback/,
    )
  })

  test('takes the methods that it has, and HEAD', async () => {
    const headers = { host: 'localhost:8080' }
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      assert.equal((await house.call({ method, url: path, headers })).status, 405)
    }
    assert.equal((await house.call({ method: 'HEAD', url: path, headers })).status, 200)
    assert.equal((await house.call({ method: 'GET', url: `${path}/remind`, headers })).status, 405)
  })
})
