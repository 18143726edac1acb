import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { skipChromium, type Window } from '../support/chromium.ts'
import { openConsoleStage } from '../support/console-stage.ts'
import { freePort } from '../support/free-port.ts'
import { insertRequests } from '../support/insert-requests.ts'
import { openRelay } from '../support/relay.ts'
import { until } from '../support/wait.ts'

/** More than a page holds, and a service that fails meanwhile: nothing is shown twice, nothing is lost, and the page goes on. */
suite('long lists, and what fails to load', { skip: skipChromium }, async () => {
  const port = await freePort()
  const { sallyport, people, signIn, request, sound } = await openConsoleStage({
    PUBLIC_URL: `http://127.0.0.1:${port}`,
  })
  const relay = await openRelay(port, sallyport.base_url)
  const unreachable = 'The service does not answer. Is your network up?'
  const broke = 'Something broke on our side.'
  const waiting = async () => {
    const rows = await sallyport.asSuperuser<{ id: string }>(`select id from access_request where status = 'pending'`)
    return rows.map(({ id }) => id).sort()
  }
  /** Requests of one moment, by a person of their own: a person may have a hundred that wait. */
  async function seed(count: number, created_at: string) {
    const { id: requester_id } = await sallyport.join('Nora Quist', ['user'])
    const of = { id: '123456789010', action: 'ReadOnlyAccess', reason: 'one of many' }
    await insertRequests(sallyport, sallyport.bootstrap.tenant_id, { requester_id, created_at, count, ...of })
  }
  const items = (page: Page) => page.getByRole('navigation', { name: 'To decide' }).getByRole('listitem')
  const listed = async (page: Page) => {
    // In one look: an item may leave the list at any moment.
    const hrefs = await items(page)
      .getByRole('link')
      .evaluateAll((links: { getAttribute(name: string): string | null }[]) =>
        links.map((link) => link.getAttribute('href')),
      )
    return hrefs.map((href) => href?.split('/').at(-1) ?? '')
  }
  const more = (page: Page) => page.getByRole('button', { name: 'Load more' })
  const isNext = (url: URL) => url.searchParams.has('cursor')
  /** The failure in its place, beside what is loaded. */
  const failure = (page: Page, said: string) => page.locator('#main').getByRole('alert').filter({ hasText: said })
  const tryNow = (of: Locator) => of.getByRole('button', { name: 'Try now' }).click()

  /** Has the service answer calls of a page as one that broke does. Returns what ends it. */
  async function breaking({ page }: Window, calls: (url: URL) => boolean): Promise<() => Promise<void>> {
    await page.route(calls, (route) =>
      route.fulfill({
        status: 500,
        headers: { 'x-request-id': 'the-id-of-the-call' },
        json: { code: 'internal', message: 'something broke', request_id: 'the-id-of-the-call' },
      }),
    )
    return () => page.unroute(calls)
  }

  test('an inbox of three pages is loaded in parts, without one twice and without one lost', async () => {
    // Pages begin within those of one moment.
    await seed(70, '2026-03-05T17:04:07Z')
    await seed(60, '2026-03-06T17:04:07Z')
    // A page, and the count, end early after two seconds: the first evaluation takes long on a busy machine.
    await until('the rules are prepared', async () => {
      const { body } = await people.ben.call<{ count: number }>('GET', '/v1/requests/count?decidable_by=me')
      return body.count === 100
    })
    const window = await signIn('ben', 'inbox')
    const { page } = window
    await until('the first page is there', async () => (await items(page).count()) === 50)
    await until('the count is whole', async () => {
      const count = page.getByText(/^\d+\+$/).first()
      if ((await count.textContent()) === '100+') return true
      await page.reload()
      return false
    })
    await until('the first page is there again', async () => (await items(page).count()) === 50)
    await more(page).click()
    await until('the second is there', async () => (await items(page).count()) === 100)
    const before = await listed(page)
    await more(page).click()
    await until('all are there', async () => (await items(page).count()) === 130)
    await more(page).waitFor({ state: 'detached' })
    const all = await listed(page)
    assert.deepEqual(all.slice(0, 100), before, 'what was there stays where it was')
    assert.deepEqual(all.toSorted(), await waiting())
    await sound(window, 'inbox-long')
  })

  test('what comes and goes while three pages are shown moves nothing twice into them', async () => {
    const { page } = await signIn('ben', 'inbox')
    for (const count of [50, 100]) {
      await until(`${count} are there`, async () => (await items(page).count()) === count)
      await more(page).click()
    }
    await until('all are there', async () => (await items(page).count()) === 130)
    const [first = ''] = await listed(page)
    const added = await request({ resource: { type: 'cloud_account', id: '123456789014' } })
    await page.getByRole('link', { name: /data-warehouse/ }).waitFor()
    await people.ada.call('POST', `/v1/requests/${first}/deny`, { reasoning: 'not today' })
    await page.getByText('Denied by Ada Okafor').first().waitFor()
    await until('the one that is decided has left', async () => !(await listed(page)).includes(first))
    assert.deepEqual((await listed(page)).toSorted(), await waiting())
    await people.dana.call('DELETE', `/v1/requests/${added}`)
  })

  test('the accounts: what fails is said below what is loaded, which stays, and it goes on', async () => {
    const kim = await sallyport.join('Kim Novak', ['admin'])
    const resources = Array.from({ length: 120 }, (_, nth) => ({
      ...{ id: `${111_122_220_000 + nth}`, account_id: `${111_122_220_000 + nth}`, name: `fleet-${1_000 + nth}` },
      ...{ rank: 20, metadata: {} },
    }))
    await kim.call('PUT', '/v1/cloud/accounts', { resources })
    const window = await signIn(kim, 'start')
    const { page } = window
    const rows = page.getByRole('list', { name: 'Accounts' }).getByRole('listitem')
    await until('the first page is there', async () => (await rows.count()) === 50)
    const before = await rows.allTextContents()
    const end = await breaking(window, isNext)
    await more(page).click()
    await failure(page, broke).getByText('the-id-of-the-call').waitFor()
    assert.deepEqual(await rows.allTextContents(), before)
    assert.equal(await more(page).count(), 0, 'one button goes on, and says that it does')
    await sound(window, 'accounts-failed')
    await end()
    await tryNow(failure(page, broke))
    await until('the second page is there', async () => (await rows.count()) === 100)
    relay.cut()
    await more(page).click()
    await failure(page, unreachable).waitFor()
    assert.equal(await rows.count(), 100)
    relay.repair()
    await tryNow(failure(page, unreachable))
    await until('the rest is there', async () => (await rows.count()) === 126)
    await more(page).waitFor({ state: 'detached' })
    const texts = await rows.allTextContents()
    assert.deepEqual([texts.slice(0, 50), new Set(texts).size], [before, 126])
  })

  test('the sessions likewise', async () => {
    const person = await sallyport.join('Pia Roth', ['user'])
    await sallyport.asSuperuser(
      `insert into user_session (tenant_id, id, user_id, amr, auth_time, source_ip, user_agent, ends_at, live_until)
        select tenant_id, gen_random_uuid(), user_id, amr, auth_time, source_ip, 'curl/' || n, ends_at, live_until
        from user_session, generate_series(1, 60) n where user_id = $1`,
      [person.id],
    )
    const window = await signIn(person, 'me')
    const { page } = window
    const rows = page.getByRole('listitem').filter({ hasText: 'at the latest' })
    await until('the first page is there', async () => (await rows.count()) === 50)
    const end = await breaking(window, isNext)
    await more(page).click()
    await failure(page, broke).getByText('the-id-of-the-call').waitFor()
    assert.equal(await rows.count(), 50)
    await end()
    await tryNow(failure(page, broke))
    // The 60, that of the token, and this one.
    await until('all are there', async () => (await rows.count()) === 62)
    await more(page).waitFor({ state: 'detached' })
    assert.equal(await failure(page, broke).count(), 0)
  })

  test('a request and a grant that fail to load say so, and come', async () => {
    const id = await request({ resource: { type: 'cloud_account', id: '123456789012' } })
    const approved = await people.ben.call('POST', `/v1/requests/${id}/approve`, {})
    assert.equal(approved.status, 200, JSON.stringify(approved.body))
    const grants = await people.dana.call<{ data: { id: string }[] }>('GET', `/v1/grants?request_id=${id}`)
    const grant = grants.body.data[0]?.id ?? ''
    const window = await signIn('dana')
    const { page } = window
    for (const [path, name] of [
      [`requests/${id}`, 'Request'],
      [`grants/${grant}`, 'Access'],
    ] as const) {
      const calls = ({ pathname }: URL) => pathname === `/v1/${path}`
      const end = await breaking(window, calls)
      await page.goto(`http://127.0.0.1:${port}/console/${path}`)
      await page.getByRole('heading', { name, exact: true }).waitFor()
      await failure(page, broke).getByText('the-id-of-the-call').waitFor()
      if (name === 'Request') await sound(window, 'request-failed')
      await tryNow(failure(page, broke))
      await failure(page, broke).waitFor()
      await end()
      await tryNow(failure(page, broke))
      await page.getByText('Dana Lee requests ReadOnlyAccess on shop-prod').waitFor()
      assert.equal(await failure(page, broke).count(), 0)
      assert.equal(new URL(page.url()).pathname, `/console/requests/${id}`)
    }
  })

  test('a request that cannot be loaded again stays as it was', async () => {
    const id = await request({ resource: { type: 'cloud_account', id: '123456789015' } })
    const window = await signIn('dana', `requests/${id}`)
    const { page } = window
    const sentence = page.getByText('Dana Lee requests ReadOnlyAccess on identity-prod')
    await sentence.waitFor()
    const end = await breaking(window, ({ pathname }) => pathname === `/v1/requests/${id}`)
    const refused = () => page.waitForResponse((reply) => reply.url().endsWith(id) && reply.status() === 500)
    const failed = refused()
    await people.ben.call('POST', `/v1/requests/${id}/comments`, { text: 'which job?' })
    await failed
    const failedAgain = refused()
    await people.ben.call('POST', `/v1/requests/${id}/comments`, { text: 'and for how long?' })
    await failedAgain
    assert.equal(await sentence.count(), 1)
    await end()
    await people.ben.call('POST', `/v1/requests/${id}/deny`, { reasoning: 'not today' })
    await page.getByText(/Ben Marsh denied this at/).waitFor()
    await page.getByText('which job?').waitFor()
  })
})
