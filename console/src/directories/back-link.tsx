import { Link, type LinkProps } from '@tanstack/react-router'
import { ArrowLeft } from 'lucide-react'
import type { ReactNode } from 'react'

/** The way to what this page is a part of. */
export function BackLink({ children, ...link }: LinkProps & { children: string }): ReactNode {
  return (
    <Link
      {...link}
      className="inline-flex min-h-6 w-fit items-center gap-1 rounded-control text-accent hover:underline touch:min-h-11"
    >
      <ArrowLeft size={16} strokeWidth={1.75} aria-hidden="true" />
      {children}
    </Link>
  )
}
