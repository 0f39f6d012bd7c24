import type { Message } from '@case-records/client';
import { Badge, type Tone } from '../../components/values.tsx';
import { text } from './texts.ts';

const TONES = { failed: 'bad', scheduled: 'info', sent: 'good', skipped: 'neutral', cancelled: 'neutral' } as const;

/** A message that waits for another attempt looks different from one that waits for its time. */
export function MessageState({ of: { state, attempts } }: { of: Pick<Message, 'state' | 'attempts'> }) {
  const isRetrying = state === 'scheduled' && attempts > 0;
  const tone: Tone = isRetrying ? 'warning' : TONES[state];
  return <Badge tone={tone}>{isRetrying ? text.retrying : text.state[state]}</Badge>;
}
