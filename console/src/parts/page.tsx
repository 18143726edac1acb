import { type ReactNode, useEffect } from 'react'
import { useWords } from '../words/words.ts'

type PageProps = {
  title: string
  /** Beside the title. */
  actions?: ReactNode
  /** Tables and lists beside a record. */
  wide?: boolean
  children: ReactNode
}

/** A page: its title is the window's too. */
export function Page({ title, actions, wide = false, children }: PageProps): ReactNode {
  useTitle(title)
  return (
    <main
      id="main"
      className={`mx-auto grid w-full content-start gap-6 p-4 md:p-6 ${wide ? 'max-w-[1440px]' : 'max-w-[1120px]'}`}
    >
      <header className="flex flex-wrap items-center justify-between gap-3">
        <h1 tabIndex={-1} className="text-title font-semibold">
          {title}
        </h1>
        {actions}
      </header>
      {children}
    </main>
  )
}

export function useTitle(title: string): void {
  const words = useWords()
  useEffect(() => {
    document.title = `${title} · ${words.frame.product}`
  }, [title, words])
}

/** A part of a page with a heading of its own. */
export function Section({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <section className="grid content-start gap-3">
      <h2 className="text-body font-semibold">{title}</h2>
      {children}
    </section>
  )
}

/** A surface that holds one thing. */
export function Card({ children, className = '' }: { children: ReactNode; className?: string }): ReactNode {
  return (
    <div data-edge className={`rounded-card border border-line bg-surface p-4 md:p-6 ${className}`}>
      {children}
    </div>
  )
}
