import type { ReactNode } from 'react'
import { Page } from '../parts/page.tsx'
import { useWords } from '../words/words.ts'

export function MePage(): ReactNode {
  const words = useWords().me
  return <Page title={words.title}>{null}</Page>
}
