import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { buttonClass } from '../parts/button.tsx'
import { Empty } from '../parts/list-states.tsx'
import { Page } from '../parts/page.tsx'
import { useWords } from '../words/words.ts'

export function NotFound(): ReactNode {
  const words = useWords().frame
  return (
    <Page title={words.notFound}>
      <Empty
        action={
          <Link to="/" className={buttonClass('outline')}>
            {words.home}
          </Link>
        }
      >
        {words.notFoundText}
      </Empty>
    </Page>
  )
}

/** What is shown when the console's own code fails. */
export function Broken(): ReactNode {
  const words = useWords().frame
  return (
    <Page title={words.failed}>
      <Empty
        action={
          <button type="button" className={buttonClass('outline')} onClick={() => location.reload()}>
            {words.reload}
          </button>
        }
      >
        {words.failedText}
      </Empty>
    </Page>
  )
}
