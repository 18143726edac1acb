import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { suite, test } from 'node:test'
import { openHouse } from '../../test/support/house.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { newId } from '../kernel/id.ts'

const house = await openHouse({ PUBLIC_URL: 'https://sallyport.example.com' })
const acme = await requestStage(house, 'Acme')
await acme.rule('permit (principal, action, resource);')

const open = (url: string) => house.call({ method: 'GET', url })

suite('the page that a link in a message leads to', () => {
  test('is the same without a credential, for a known and an unknown record', async () => {
    const id = await acme.ask(acme.account('123456789012'))
    const [real, unknown] = [await open(`/requests/${id}`), await open(`/requests/${newId()}`)]
    assert.equal(real.status, 200)
    const blank = (text: string) => text.replaceAll(/[0-9a-f-]{36}/g, '')
    assert.equal(blank(real.text), blank(unknown.text))
    const [kept] = await house.asSuperuser<{ status: string }>('select status from access_request where id = $1', [id])
    assert.equal(kept?.status, 'pending')
  })

  test('has a call that shows the record', async () => {
    const id = await acme.ask(acme.account('123456789012'))
    const { text } = await open(`/requests/${id}`)
    const [, address] = /curl https:\/\/sallyport\.example\.com(\S+) /.exec(text) ?? []
    const headers = [...text.matchAll(/-H "([\w-]+): /g)].map(([, name]) => name)
    assert.deepEqual(headers, ['X-API-Key', 'X-Tenant-ID'].toSorted())
    const { tenant_id, owner } = acme
    const shown = await house.call({ method: 'GET', url: String(address), api_key: owner.api_key, tenant_id })
    assert.equal(shown.body.id, id)
  })

  test('has no script, form or cookie, and cannot be framed', async () => {
    const { text, headers } = await open(`/grants/${newId()}`)
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(text) ?? []
    const hash = createHash('sha256').update(style).digest('base64')
    const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
    assert.equal(headers['content-security-policy'], policy)
    assert.equal(headers['content-type'], 'text/html; charset=utf-8')
    assert.doesNotMatch(text, /<script|<form|<img|style="|\son\w+=/)
    assert.equal(headers['set-cookie'], undefined)
  })

  for (const id of ['1', '<script>alert(1)<%2fscript>', `${newId()}0`, `${newId()}%0a`, '..%2f..']) {
    test(`is not found for the id ${id}`, async () => {
      const { status, text } = await open(`/requests/${id}`)
      assert.equal(status, 404)
      assert.doesNotMatch(text, /<script/)
    })
  }

  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    test(`does not accept ${method}`, async () => {
      assert.equal((await house.call({ method, url: `/requests/${newId()}` })).status, 405)
    })
  }
})
