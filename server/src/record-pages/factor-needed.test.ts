import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { publicUrl } from '../../test/support/browser.ts'
import { openPageStage } from '../../test/support/page-stage.ts'
import { shownIn, type Visitor } from '../../test/support/page-visitor.ts'
import { password } from '../../test/support/second-factor-stage.ts'
import { newId } from '../kernel/id.ts'

const stage = await openPageStage()
const { house, acme, ben, dana, ask, signedIn } = stage
const id = await ask()
const path = `/requests/${id}`
await stage.goLive(acme)

const says = (page: Awaited<ReturnType<Visitor['open']>>) => {
  assert.equal(page.status, 403, page.text)
  assert.match(
    shownIn(page),
    /^Second factor Your roles need a sign-in with a second factor\. Set one up in the console/,
  )
  assert.ok(page.text.includes(`href="${publicUrl}/console/me"`))
  // Another sign-in would lead here again.
  assert.doesNotMatch(page.text, /<form/)
}

suite('a person whose role needs a second factor, and who has none', () => {
  test('is led to where one is set up, and not to another sign-in', async () => {
    const visitor = await signedIn(ben, path)
    for (const act of ['', '/approve']) says(await visitor.open(`${path}${act}`))
    says(await visitor.open(`/grants/${newId()}`))
  })

  test('reads it in German', async () => {
    const visitor = await signedIn(ben, path)
    const page = await visitor.open(path, { 'accept-language': 'de' })
    assert.match(
      shownIn(page),
      /Ihre Rollen verlangen eine Anmeldung mit einem zweiten Faktor\. .* Zweiten Faktor einrichten/,
    )
  })

  test('decides nothing, and keeps the note until the factor is set up', async () => {
    const user = await stage.named(['approver'], 'Frida')
    const visitor = await signedIn(user, path)
    const refused = await visitor.post(`${path}/deny`, { key: newId(), who: user.id, note: 'not on <Friday>' })
    says(refused)
    assert.match(refused.text, /not on &lt;Friday&gt;<\/textarea>/)
    const { codes } = await stage.addApp(await stage.withPassword(user))
    const over = await visitor.open(`${path}?t=${user.tenant_id}`)
    const step = await visitor.submit(over, { email: user.email, password })
    const done = await visitor.submit(step, { code: String(codes[0]) })
    const again = await visitor.follow(done)
    assert.match(shownIn(again), /^Deny this request\?/)
    assert.ok(again.text.includes('not on &lt;Friday&gt;</textarea>'))
    const [row] = await house.asSuperuser<{ status: string }>('select status from access_request where id = $1', [id])
    assert.equal(row?.status, 'pending')
  })

  test('reads nothing of it where the role needs none', async () => {
    assert.match(shownIn(await (await signedIn(dana, path)).open(path)), /You cannot decide your own request/)
  })
})
