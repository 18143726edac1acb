import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openPageStage } from '../../test/support/page-stage.ts'
import { shownIn, visitorOf } from '../../test/support/page-visitor.ts'

const stage = await openPageStage()
const { house, acme, ben, dana, ask, signedIn } = stage

suite('the page of a request', () => {
  test('shows a person who may decide what they need, and two touches approve it', async () => {
    const id = await ask({ reason: 'look at the logs of <b>Tuesday</b>' })
    const visitor = await signedIn(ben, `/requests/${id}`)
    const page = await visitor.open(`/requests/${id}`)
    assert.equal(page.status, 200)
    console.log(page.text.replace(/<style>.*<\/style>/s, ''))
    console.log(shownIn(page))
    const confirm = await visitor.open(`/requests/${id}/approve`)
    console.log(shownIn(confirm))
    const done = await visitor.submit(confirm, { note: 'fine', duration: '1800' })
    const after = await visitor.follow(done)
    console.log(shownIn(after))
    void [house, acme, dana, visitorOf]
  })
})
