import type { AddressInfo, Socket } from 'node:net';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';

/** A real SMTP server in the process of the test, which decides what happens to each message. */

export type Mail = { from: string; to: string; raw: string; client: string };

/** Refuses with a code and text, stays silent (for ever or until the promise settles), or breaks the connection. */
export type Behaviour =
  | { refuse?: number; text?: string; hang?: boolean; drop?: boolean; until?: Promise<unknown> }
  | undefined;

export type MailServer = {
  url: string;
  port: number;
  /** The accepted messages. */
  mails: Mail[];
  /** Called at RCPT TO, and again when a message is complete. */
  onRecipient: (to: string, client: string) => Behaviour;
  onMessage: (mail: Mail) => Behaviour;
  /** The number of connected clients. */
  connections(): number;
  close(): Promise<void>;
};

export async function mailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    hideSTARTTLS: true,
    logger: false,
    onRcptTo: ({ address }, session, done) => act(made.onRecipient(address, clientOf(session)), session, done),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const mail = {
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address).join(', '),
          raw: Buffer.concat(chunks).toString('utf8'),
          client: clientOf(session),
        };
        const behaviour = made.onMessage(mail);
        if (!behaviour) made.mails.push(mail);
        act(behaviour, session, done);
      });
    },
    ...options,
  });
  const sockets = new Set<Socket>();
  server.server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  // A killed client breaks its connections.
  server.on('error', () => {});
  const act = (behaviour: Behaviour, session: SMTPServerSession, done: (error?: Error | null) => void) => {
    if (behaviour?.drop) return [...server.connections].find(({ session: its }) => its.id === session.id)?.close();
    if (behaviour?.hang) return;
    if (behaviour?.until) return behaviour.until.then(() => done());
    if (!behaviour?.refuse) return done();
    done(Object.assign(new Error(behaviour.text ?? 'refused'), { responseCode: behaviour.refuse }));
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  const made: MailServer = {
    url: `smtp://127.0.0.1:${port}`,
    port,
    mails: [],
    onRecipient: () => undefined,
    onMessage: () => undefined,
    connections: () => server.connections.size,
    close: async () => {
      server.close(() => {});
      for (const socket of sockets) socket.destroy();
    },
  };
  return made;
}

const clientOf = (session: SMTPServerSession): string => String(session.hostNameAppearsAs ?? '');

/** The decoded parts of a message, by content type, and its headers on one line each. */
export function readMail(raw: string): { headers: Record<string, string>; parts: Record<string, string> } {
  const [head = '', ...rest] = raw.split('\r\n\r\n');
  const headers = readHeaders(head);
  const boundary = /boundary="?([^";]+)"?/.exec(headers['content-type'] ?? '')?.[1];
  const body = rest.join('\r\n\r\n');
  const type = headers['content-type']?.split(';', 1)[0] ?? 'text/plain';
  if (!boundary) return { headers, parts: { [type]: decode(body, headers['content-transfer-encoding'] ?? '') } };
  const parts: Record<string, string> = {};
  for (const part of body.split(`--${boundary}`).slice(1, -1)) {
    // The line break before a boundary belongs to the boundary.
    Object.assign(parts, { ...readMail(part.replace(/^\r\n|\r\n$/g, '')).parts, ...parts });
  }
  return { headers, parts };
}

function readHeaders(head: string): Record<string, string> {
  const lines = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n');
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
}

function decode(body: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('utf8');
  if (encoding !== 'quoted-printable') return body;
  const bytes = body
    .replaceAll('=\r\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
