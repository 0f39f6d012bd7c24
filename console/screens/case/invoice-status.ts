import type { Tone } from '../../components/values.tsx';

const TONES: Readonly<Record<string, Tone>> = {
  Paid: 'good',
  'Part Paid': 'info',
  'Not Paid': 'warning',
  Cancelled: 'neutral',
};

export const invoiceTone = (status: string): Tone => TONES[status] ?? 'neutral';
