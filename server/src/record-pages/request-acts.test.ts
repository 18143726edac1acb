import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openPageStage } from '../../test/support/page-stage.ts'
import { hiddenOf, shownIn, type Visitor } from '../../test/support/page-visitor.ts'
import { newId } from '../kernel/id.ts'

const stage = await openPageStage()
const { house, acme, ben, dana, ask, signedIn } = stage
const ada = await stage.named(['approver'], 'Ada')
const eve = await stage.named(['user'], 'Eve')

const statusOf = async (id: string) => {
  const [row] = await house.asSuperuser<{
    status: string
    decided_by: string | null
    decision_reasoning: string | null
  }>('select status, decided_by, decision_reasoning from access_request where id = $1', [id])
  return row
}
const decisionsOf = async (id: string) =>
  (await acme.eventsOf(id)).filter(({ type }) => type === 'request.approved' || type === 'request.denied').length

suite('the page of a request', () => {
  test('shows who may decide it the sentence, the reason, the risk and the requester, with Approve and Deny', async () => {
    const id = await ask({ reason: 'look at the <b>logs</b>\n"today"' })
    const page = await (await signedIn(ben, `/requests/${id}`)).open(`/requests/${id}`)
    assert.equal(page.status, 200)
    const shown = shownIn(page)
    assert.match(
      shown,
      /^Waiting Dana Lee requests ReadOnlyAccess on account 1234.5678.9012 for 1 h\. Reason, as written by/,
    )
    assert.match(shown, /look at the <b>logs<\/b> "today" Risk Normal Your decision Approve Deny/)
    assert.match(
      shown,
      /About Dana Lee Groups None .*Why approval is needed The policy “ Acme ” requires an approval\. Timeline/,
    )
    assert.doesNotMatch(page.text, /<b>logs|<form/)
  })

  test('shows its requester why they cannot decide it, who may, and how to cancel it or remind them', async () => {
    const id = await ask()
    const shown = shownIn(await (await signedIn(dana, `/requests/${id}`)).open(`/requests/${id}`))
    assert.match(shown, /You cannot decide your own request\. .*Ada.* can approve\. Remind them Cancel request/)
    assert.doesNotMatch(shown, /Approve|Deny|About/)
  })

  test('is not found for who may not see it, as one that does not exist', async () => {
    const id = await ask()
    const visitor = await signedIn(eve, `/requests/${id}`)
    const [hidden, missing, malformed] = [
      await visitor.open(`/requests/${id}`),
      await visitor.open(`/requests/${newId()}`),
      await visitor.open('/requests/17'),
    ]
    assert.deepEqual([hidden.status, missing.status, malformed.status], [404, 404, 404])
    assert.equal(hidden.text, missing.text)
    assert.equal(hidden.text, malformed.text)
    for (const act of ['approve', 'deny', 'cancel']) {
      assert.equal((await visitor.open(`/requests/${id}/${act}`)).status, 404)
    }
  })

  test('speaks the language that the person chose, else that of the browser', async () => {
    const id = await ask()
    const visitor = await signedIn(ben, `/requests/${id}`)
    const language = { 'accept-language': 'fr;q=0.9, de-AT;q=0.8, en;q=0.1' }
    assert.match(
      shownIn(await visitor.open(`/requests/${id}`, language)),
      /Dana Lee beantragt ReadOnlyAccess auf Konto/,
    )
    await house.asSuperuser(`update tenant_user set locale = 'en-GB', timezone = 'Asia/Kolkata' where id = $1`, [
      ben.id,
    ])
    const english = await visitor.open(`/requests/${id}`, language)
    assert.match(english.text, /<html lang="en">/)
    const [, iso = '', shown = ''] = /<time datetime="([^"]+)" title="[^"]+ UTC">(\d\d:\d\d)</.exec(english.text) ?? []
    const minutes = (Number(iso.slice(11, 13)) * 60 + Number(iso.slice(14, 16)) + 330) % 1440
    assert.equal(Number(shown.slice(0, 2)) * 60 + Number(shown.slice(3)), minutes)
  })
})

suite('a decision', () => {
  test('is made by the second touch: the first is a GET that offers shorter times and a note', async () => {
    const id = await ask()
    const visitor = await signedIn(ben, `/requests/${id}`)
    const confirm = await visitor.open(`/requests/${id}/approve`)
    assert.match(shownIn(confirm), /Approve this request\?.*For 1 h, as requested 30 min 15 min Note \(optional\)/)
    assert.equal((await statusOf(id))?.status, 'pending')
    const done = await visitor.submit(confirm, { note: ' for the incident ', duration: '1800' })
    const shown = shownIn(await visitor.follow(done))
    assert.match(
      shown,
      /You approved this .* For 30 min of the 1 h requested\. Note, as written by Ben for the incident/,
    )
    assert.deepEqual(await statusOf(id), {
      ...{ status: 'approved', decided_by: ben.id, decision_reasoning: 'for the incident' },
    })
  })

  test('to deny needs a note, and keeps what was written', async () => {
    const id = await ask()
    const visitor = await signedIn(ben, `/requests/${id}`)
    const empty = await visitor.submit(await visitor.open(`/requests/${id}/deny`), { note: ' \r\n ' })
    assert.equal(empty.status, 400)
    assert.match(shownIn(empty), /Write why you deny it/)
    const long = await visitor.submit(empty, { note: `${'a'.repeat(1_999)}\r\nb` })
    assert.match(shownIn(long), /more than 2,000 characters/)
    assert.ok(long.text.includes(`${'a'.repeat(1_999)}\nb</textarea>`))
    assert.equal((await statusOf(id))?.status, 'pending')
    const shown = shownIn(await visitor.follow(await visitor.submit(long, { note: 'take less' })))
    assert.match(shown, /^Denied .*You denied this .* Note, as written by Ben take less/)
  })

  test('is made once by a double click', async () => {
    const id = await ask()
    const visitor = await signedIn(ben, `/requests/${id}`)
    const confirm = await visitor.open(`/requests/${id}/approve`)
    const replies = await Promise.all([visitor.submit(confirm), visitor.submit(confirm), visitor.submit(confirm)])
    for (const { status } of replies) assert.ok(status === 303 || status === 409, String(status))
    assert.ok(replies.some(({ status }) => status === 303))
    assert.equal(await decisionsOf(id), 1)
    assert.equal((await visitor.submit(confirm)).status, 303)
    assert.equal(await decisionsOf(id), 1)
  })

  test('that comes too late says who was faster', async () => {
    const id = await ask()
    const [first, second] = [await signedIn(ben, `/requests/${id}`), await signedIn(ada, `/requests/${id}`)]
    const open = (visitor: Visitor, act: string) => visitor.open(`/requests/${id}/${act}`)
    const [approving, denying] = [await open(first, 'approve'), await open(second, 'deny')]
    assert.equal((await first.submit(approving)).status, 303)
    const late = await second.submit(denying, { note: 'no' })
    assert.equal(late.status, 409)
    assert.match(shownIn(late), /^Ben approved this .*\. Nothing left to do\./)
    assert.match(shownIn(await open(second, 'approve')), /^Ben approved this/)
    assert.deepEqual([(await statusOf(id))?.decided_by, await decisionsOf(id)], [ben.id, 1])
  })

  test('of two people at the same moment is one, and the other reads whose it was', async () => {
    const id = await ask()
    const visitors = [await signedIn(ben, `/requests/${id}`), await signedIn(ada, `/requests/${id}`)]
    const pages = await Promise.all(visitors.map((visitor) => visitor.open(`/requests/${id}/approve`)))
    const replies = await Promise.all(visitors.map((visitor, nth) => visitor.submit(pages[nth] as never)))
    const statuses = replies.map(({ status }) => status).sort()
    assert.deepEqual(statuses, [303, 409])
    const winner = replies[0]?.status === 303 ? 'Ben' : 'Ada'
    const loser = replies.find(({ status }) => status === 409)
    assert.match(shownIn(loser as never), new RegExp(`^${winner} approved this`))
  })

  test('that policy refuses shows the reason and the notices, and keeps the note', async () => {
    const id = await ask()
    const visitor = await signedIn(ben, `/requests/${id}`)
    const confirm = await visitor.open(`/requests/${id}/approve`)
    const remove = await acme.rule(
      '@notice("nobody gives access on <Friday>") forbid (principal, action == Action::"approve", resource);',
    )
    const refused = await visitor.submit(confirm, { note: 'keep me' })
    assert.equal(refused.status, 403)
    assert.match(shownIn(refused), /Nobody gives access on <Friday>\./)
    assert.equal((await statusOf(id))?.status, 'pending')
    await remove()
  })

  test('of one’s own request is not offered, and is refused', async () => {
    const both = await stage.named(['approver', 'user'], 'Both')
    const id = await ask({}, await stage.personOf(both))
    const visitor = await signedIn(both, `/requests/${id}`)
    assert.match(shownIn(await visitor.open(`/requests/${id}/approve`)), /You cannot decide your own request/)
    const refused = await visitor.post(`/requests/${id}/approve`, { key: newId() })
    assert.equal(refused.status, 403)
    assert.equal((await statusOf(id))?.status, 'pending')
  })

  test('waits when the session is over: the person signs in, the note is kept, and the next touch decides', async () => {
    const id = await ask()
    for (const note of ['Wait for the change freeze: Änderungsstopp\nuntil Monday', '😀'.repeat(1_500)]) {
      const visitor = await signedIn(ben, `/requests/${id}`)
      const confirm = await visitor.open(`/requests/${id}/deny`)
      await house.asSuperuser('delete from user_session where user_id = $1', [ben.id])
      const over = await visitor.submit(confirm, { note })
      assert.equal(over.status, 401)
      assert.equal((await statusOf(id))?.status, 'pending')
      if (note.length > 2_000) {
        assert.match(shownIn(over), /Your note is too long to be kept: copy it from here/)
        assert.ok(over.text.includes(`${note}</textarea>`))
        continue
      }
      assert.match(shownIn(over), /Sign in to go on\. Your note is kept\./)
      const back = await visitor.submit(over, { email: ben.email, password: 'a long enough password' })
      const again = await visitor.follow(back)
      assert.match(shownIn(again), /^Deny this request\?/)
      assert.ok(again.text.includes(`${note}</textarea>`))
    }
    const [row] = await house.asSuperuser('select 1 from event where subject_id = $1 and type = $2', [
      id,
      'request.denied',
    ])
    assert.equal(row, undefined)
  })

  test('of one person is not sent by another who signs in in the same browser, who sees nothing of its note', async () => {
    const id = await ask()
    const path = `/requests/${id}`
    const visitor = await signedIn(ben, path)
    const confirm = await visitor.open(`${path}/approve`)
    await house.asSuperuser('delete from user_session where user_id = $1', [ben.id])
    const over = await visitor.submit(confirm, { note: 'for Ben alone' })
    const back = await visitor.submit(over, { email: ada.email, password: 'a long enough password' })
    const page = await visitor.follow(back)
    assert.match(shownIn(page), /^Approve this request\?/)
    assert.doesNotMatch(page.text, /for Ben alone/)
    const refused = await visitor.submit(confirm)
    assert.equal(refused.status, 409)
    assert.match(shownIn(refused), /Another person has signed in in this browser/)
    assert.equal((await statusOf(id))?.status, 'pending')
    assert.equal((await visitor.submit(refused)).status, 303)
    assert.equal((await statusOf(id))?.decided_by, ada.id)
  })
})

suite('the requester', () => {
  test('cancels the request by a second touch', async () => {
    const id = await ask()
    const visitor = await signedIn(dana, `/requests/${id}`)
    const confirm = await visitor.open(`/requests/${id}/cancel`)
    assert.equal((await statusOf(id))?.status, 'pending')
    assert.match(
      shownIn(await visitor.follow(await visitor.submit(confirm))),
      /^Cancelled .*The request was cancelled\./,
    )
    assert.match(shownIn(await visitor.open(`/requests/${id}/cancel`)), /^The request was cancelled\. Nothing left/)
  })

  test('reminds those who may decide, once in ten minutes', async () => {
    const id = await ask()
    const visitor = await signedIn(dana, `/requests/${id}`)
    const page = await visitor.open(`/requests/${id}`)
    const shown = shownIn(await visitor.follow(await visitor.submit(page)))
    assert.match(shown, /You reminded them .*\. You may remind them again from .*\. Cancel request/)
    assert.doesNotMatch(shown, /Remind them/)
    const early = await visitor.post(`/requests/${id}/remind`, { key: newId() })
    assert.equal(early.status, 429)
    assert.match(shownIn(early), /less than 10 minutes ago/)
    assert.notEqual(hiddenOf(page).key, '')
  })
})
