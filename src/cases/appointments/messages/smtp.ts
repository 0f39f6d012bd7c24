import { createTransport, type SendMailOptions } from 'nodemailer';
import { DeliveryFault } from './message.ts';

/** `handover`: until the server has the message whole. `answer`: from then on, until it says what becomes of it. */
export type SmtpTimes = { connectionTimeout: number; greetingTimeout: number; handover: number; answer: number };

const TIMES: SmtpTimes = {
  connectionTimeout: 15_000,
  greetingTimeout: 15_000,
  handover: 60_000,
  // RFC 5321, 4.5.3.2.6: a server that is broken off here has the message, and would get it again.
  answer: 600_000,
};

type Progress = { onWhole: () => void };

const connect = (
  url: string,
  { handover, answer, connectionTimeout, greetingTimeout }: SmtpTimes,
  progress: Progress = { onWhole: () => {} },
) =>
  createTransport({
    url,
    // The one place where nodemailer tells that the last byte of a message is on its way.
    logger: { info: (entry: unknown) => (entry as { tnx?: string }).tnx === 'message' && progress.onWhole() },
    pool: true,
    maxConnections: 1,
    // Only a connection that the server closed while it was idle; where a byte of the message went out it is a fault.
    maxRequeues: 1,
    idleTimeout: 10_000,
    disableFileAccess: true,
    disableUrlAccess: true,
    connectionTimeout,
    greetingTimeout,
    // The times above are kept here; this one must not come before them.
    socketTimeout: handover + answer,
  });
type Line = { transport: ReturnType<typeof connect>; progress: Progress };

/** Connects and logs in, sends nothing; throws what the server, or the way to it, has against it. */
export async function tryServer(url: string): Promise<void> {
  const line = connect(url, TIMES);
  try {
    await line.verify();
  } finally {
    line.close();
  }
}

/**
 * Connections to one server, each used by one message at a time and kept for the next. Nodemailer's own pool is
 * not used for all of them together: a delivery that is given up can only be ended by closing the pool that it is in.
 */
export class Smtp {
  readonly #url: string;
  readonly #times: SmtpTimes;
  readonly #idle: Line[] = [];
  #closed = false;

  constructor(url: string, times: Partial<SmtpTimes> = {}) {
    this.#url = url;
    this.#times = { ...TIMES, ...times };
  }

  /** Hands the mail over and gives the server's answer. */
  async send(mail: SendMailOptions, signal: AbortSignal): Promise<string> {
    const { handover, answer } = this.#times;
    const line = this.#idle.pop() ?? this.#line();
    const { transport, progress } = line;
    const { promise: givenUp, reject } = Promise.withResolvers<never>();
    let whole = false;
    const giveUp = (why: string) => {
      transport.close({ force: true });
      reject(new DeliveryFault(why, { permanent: false, unsure: whole }));
    };
    const tooLong = () => giveUp('The mail server took too long.');
    let timer = setTimeout(tooLong, handover);
    progress.onWhole = () => {
      whole = true;
      clearTimeout(timer);
      timer = setTimeout(tooLong, answer);
    };
    const onAbort = () => giveUp('The worker stopped.');
    signal.addEventListener('abort', onAbort);
    try {
      const { response } = await Promise.race([transport.sendMail(mail), givenUp]);
      if (this.#closed) transport.close();
      else this.#idle.push(line);
      return response;
    } catch (error) {
      transport.close({ force: true });
      throw error instanceof DeliveryFault ? error : toFault(error as SmtpError, whole);
    } finally {
      progress.onWhole = () => {};
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }

  close(): void {
    this.#closed = true;
    for (const { transport } of this.#idle.splice(0)) transport.close();
  }

  #line(): Line {
    const progress: Progress = { onWhole: () => {} };
    return { transport: connect(this.#url, this.#times, progress), progress };
  }
}

type SmtpError = Error & { code?: string; responseCode?: number; response?: string };

// The server has judged this sender, this recipient or this message. Anything else, a refused login above all, is a
// fault of the connection or of the settings, and the message is not to suffer for it.
const JUDGED = ['EENVELOPE', 'EMESSAGE'];

function toFault(error: SmtpError, whole: boolean): DeliveryFault {
  const { code = '', responseCode = 0, response } = error;
  const permanent = JUDGED.includes(code) && responseCode >= 500;
  // Nodemailer finds an address that no server could take by itself.
  const unusable = code === 'EENVELOPE' && responseCode === 0;
  const reason = response ? `The mail server said: ${response}` : `The mail server could not be used: ${error.message}`;
  const unsure = whole && responseCode === 0;
  return new DeliveryFault(reason, { permanent: permanent || unusable, unsure, cause: error });
}
