import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { skipChromium, type Window } from '../support/chromium.ts'
import { openConsoleStage } from '../support/console-stage.ts'
import { until } from '../support/wait.ts'

/** Many windows of one browser share one stream, and all of them follow it. */
suite('ten windows of one browser', { skip: skipChromium }, async () => {
  const { sallyport, people, signIn, enter, request } = await openConsoleStage()

  /** Opens the page in so many more windows of the same browser. Counts the streams that they open. */
  async function openMore({ page }: Window, count: number, path: string) {
    const pages = [page]
    for (let more = 0; more < count; more += 1) {
      const next = await page.context().newPage()
      await next.goto(`${sallyport.base_url}/console/${path}`)
      await next.getByRole('navigation', { name: 'Main' }).first().waitFor()
      pages.push(next)
    }
    return pages
  }

  /** The stream counts for a person, so what the service holds open shows how many there are. */
  const held = (page: Window['page']) =>
    page.evaluate(
      'navigator.locks.query().then(({ held, pending }) => ({ held: held.length, pending: pending.length }))',
    ) as Promise<{ held: number; pending: number }>

  test('one of them holds the stream, and every one shows what it says', async () => {
    const window = await signIn('ben', 'inbox')
    const pages = await openMore(window, 9, 'inbox')
    await until('one holds the stream', async () => (await held(window.page)).held === 1)
    const id = await request()
    await Promise.all(
      pages.map((page) => page.getByRole('link', { name: /ReadOnlyAccess on payments-prod/ }).waitFor()),
    )
    await people.dana.call('DELETE', `/v1/requests/${id}`)
    await Promise.all(pages.map((page) => page.getByText('No longer to decide').waitFor()))
    assert.equal((await held(window.page)).held, 1)
  })

  test('another one takes over when the one that holds it is closed', async () => {
    const window = await signIn('ada', 'inbox')
    const [first, ...rest] = await openMore(window, 2, 'inbox')
    await first?.close()
    const [next] = rest
    assert.ok(next)
    await until('another one holds the stream', async () => (await held(next)).held === 1)
    await request({ resource: { type: 'cloud_account', id: '123456789014' } })
    await Promise.all(
      rest.map((page) => page.getByRole('link', { name: /ReadOnlyAccess on data-warehouse/ }).waitFor()),
    )
  })

  test('one sign-in goes on in all of them after the session ended, and they follow what happens again', async () => {
    const window = await signIn('ben', 'inbox')
    const pages = await openMore(window, 2, 'inbox')
    await people.ben.call('DELETE', '/v1/users/me/sessions')
    await Promise.all(pages.map((page) => page.getByText('Your session is over.').waitFor()))
    await enter(window, 'ben')
    await Promise.all(pages.map((page) => page.getByText('Your session is over.').waitFor({ state: 'detached' })))
    await request({ resource: { type: 'cloud_account', id: '123456789015' } })
    await Promise.all(
      pages.map((page) => page.getByRole('link', { name: /ReadOnlyAccess on identity-prod/ }).waitFor()),
    )
  })

  test('another person who signs in in one window signs in in all of them', async () => {
    const window = await signIn('ben', 'inbox')
    const [first, second] = await openMore(window, 1, 'inbox')
    assert.ok(first && second)
    await people.ben.call('DELETE', '/v1/users/me/sessions')
    await first.getByText('Your session is over.').waitFor()
    await enter({ ...window, page: first }, 'dana')
    // Dana decides nothing, so she has no inbox.
    for (const page of [first, second])
      await until('the window is Dana’s', async () => (await page.getByRole('link', { name: /Inbox/ }).count()) === 0)
  })

  test('a sign-out in one window ends the session in all of them', async () => {
    const window = await signIn('dana')
    const [first, second] = await openMore(window, 1, '')
    await first?.getByRole('button', { name: 'Sign out' }).first().click()
    await second?.getByRole('heading', { name: 'Sign in' }).waitFor()
  })
})
