import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openPageStage } from '../../test/support/page-stage.ts'
import { shownIn } from '../../test/support/page-visitor.ts'
import { picturesOfAll } from '../../test/support/picture.ts'
import { newId } from '../kernel/id.ts'

const stage = await openPageStage()
const { house, acme, ben, dana, ask, signedIn } = stage
const eve = await stage.named(['user'], 'Eve')
const owner = await stage.named(['admin'], 'Kim')
house.app.startWorkers()

/** Access of Dana's, which her target has confirmed. */
async function access() {
  const request = await acme.approve(await ask())
  const [grant] = await acme.grantsAre(request, 'active', 'successful')
  return { request, id: String(grant?.id) }
}

suite('the page of a grant', () => {
  test('shows its holder what they have until when, how to connect, and how to end it', async () => {
    const { id, request } = await access()
    const visitor = await signedIn(dana, `/grants/${id}`)
    const shown = shownIn(await visitor.open(`/grants/${id}`))
    // In the evening the end is on another day, which is named.
    const end = /^Active Dana Lee has ReadOnlyAccess on account 1234.5678.9012 until (?:\w+ \d+, \d{4}, )?\d{1,2}:\d\d/
    assert.match(shown, end)
    assert.match(shown, /End access Extend in the console The request How to connect This access is simulated/)
    const page = shownIn(await visitor.open(`/requests/${request}`))
    assert.match(
      page,
      /^Active .*Access Active Dana Lee has .* End access Details How to connect .*The target confirmed/,
    )
  })

  test('shows others who may read it no way to connect, and is not found for the rest', async () => {
    const { id } = await access()
    const shown = shownIn(await (await signedIn(owner, `/grants/${id}`)).open(`/grants/${id}`))
    assert.match(shown, /Dana Lee has .*End access/)
    assert.doesNotMatch(shown, /How to connect|Extend/)
    const stranger = await signedIn(eve, `/grants/${id}`)
    for (const path of ['', '/end']) assert.equal((await stranger.open(`/grants/${id}${path}`)).status, 404)
    assert.equal((await stranger.post(`/grants/${id}/end`, { key: newId() })).status, 404)
    assert.match(shownIn(await (await signedIn(ben, `/grants/${id}`)).open(`/grants/${newId()}`)), /^Not found/)
  })

  test('says until when open sessions may go on, and why', async () => {
    const { id, request } = await access()
    const visitor = await signedIn(dana, `/grants/${id}`)
    await visitor.submit(await visitor.open(`/grants/${id}/end`), { note: '' })
    await acme.grantsAre(request, 'revoked', 'deprovisioned')
    // As a target reports it.
    await house.asSuperuser(
      `update entitlement set session_seconds = 3600, session_note = 'sessions were not cut: <b>full</b>'
        where id = (select entitlement_id from access_grant where id = $1)`,
      [id],
    )
    const shown = shownIn(await visitor.open(`/grants/${id}`))
    assert.match(shown, /Sessions that are already open may go on until .*\d.*\. sessions were not cut: <b>full<\/b>/)
  })

  test('ends the access by the second touch, once', async () => {
    const { id } = await access()
    const visitor = await signedIn(dana, `/grants/${id}`)
    const confirm = await visitor.open(`/grants/${id}/end`)
    assert.match(shownIn(confirm), /^End this access\? .*You lose the access now/)
    const done = shownIn(await visitor.follow(await visitor.submit(confirm, { note: 'done with it' })))
    assert.match(done, /^(Ending|Ended early) Dana Lee had .*Ended by Dana Lee .*Why it ended done with it/)
    const again = await visitor.post(`/grants/${id}/end`, { key: newId(), note: '' })
    assert.equal(again.status, 409)
    assert.match(shownIn(again), /^It has already ended\./)
    assert.equal((await acme.eventsOf(id)).filter(({ type }) => type === 'grant.revoked').length, 1)
  })

  test('without a session asks for a sign-in, reads nothing, and keeps the note of a form', async () => {
    const { id } = await access()
    // The workers are still busy with what happened before.
    const pictureOf = await picturesOfAll(house, 'event', 'event_queue', 'event_parked', 'notification')
    const visitor = await signedIn(dana, `/grants/${id}`)
    const confirm = await visitor.open(`/grants/${id}/end`)
    const before = await pictureOf(acme.tenant_id)
    for (const path of ['', '/end']) assert.equal((await visitor.open(`/grants/${id}${path}`)).status, 200)
    assert.deepEqual(await pictureOf(acme.tenant_id), before)
    await house.asSuperuser('delete from user_session where user_id = $1', [dana.id])
    const over = await visitor.submit(confirm, { note: 'enough' })
    assert.equal(over.status, 401)
    const back = await visitor.submit(over, { email: dana.email, password: 'a long enough password' })
    assert.match((await visitor.follow(back)).text, /enough<\/textarea>/)
  })
})
