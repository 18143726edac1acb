import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { pagesInOrder } from './blocks.ts'
import { newcomer } from './newcomer.ts'
import { hasTyped, typePage } from './typing.ts'

/** A new user types the first request of the README, and then one guide, into bash: every guide in a service of its own. */
suite('each guide works by itself, after the README', { concurrency: 2 }, () => {
  const [readme = '', ...guides] = pagesInOrder()
  const wanted = process.env.GUIDE ?? ''
  for (const guide of guides.filter(hasTyped).filter((one) => one.includes(wanted)))
    test(guide, async () => {
      const { shell, replaced, stop } = await newcomer()
      const first = await typePage(shell, readme, replaced, ({ section }) => section === 'Your first request')
      assert.deepEqual([...first, ...(await typePage(shell, guide, replaced))], [])
      await stop()
    })
})
