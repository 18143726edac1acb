import { Check, Copy as CopyIcon } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useWords } from '../words/words.ts'
import { announce } from './announcer.tsx'
import { Button, IconButton } from './button.tsx'

type CopyProps = { text: string; label: string; look?: 'icon' | 'outline' | 'primary' }

/** Copies a text. The icon or the word says that it was copied. */
export function Copy({ text, label, look = 'icon' }: CopyProps): ReactNode {
  const words = useWords()
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    announce(words.actions.copied)
    setTimeout(() => setCopied(false), 2_000)
  }
  const Icon = copied ? Check : CopyIcon
  const icon = <Icon size={16} strokeWidth={1.75} aria-hidden="true" />
  if (look === 'icon')
    return (
      <IconButton label={label} onClick={copy}>
        {icon}
      </IconButton>
    )
  return (
    <Button look={look} onClick={copy}>
      {icon}
      {copied ? words.actions.copied : label}
    </Button>
  )
}
