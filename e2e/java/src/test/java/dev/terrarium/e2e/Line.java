package dev.terrarium.e2e;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.HashSet;
import java.util.Set;

/** A relay in front of the server that can be cut and mended, as a bad network is. */
final class Line implements AutoCloseable {
  private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final URI server = URI.create(Suite.serverUrl());
  private final Set<Socket> sockets = new HashSet<>();
  private boolean cut;

  Line() throws IOException {
    start(this::accept);
  }

  /** A configuration whose requests take this line. */
  Config config() {
    return new ConfigBuilder(Config.empty())
        .withMasterUrl("http://127.0.0.1:" + listener.getLocalPort())
        .withWatchReconnectInterval(20)
        .build();
  }

  synchronized void cut() throws IOException {
    cut = true;
    for (Socket socket : sockets) {
      socket.close();
    }
    sockets.clear();
  }

  synchronized void mend() {
    cut = false;
  }

  @Override
  public void close() throws IOException {
    listener.close();
    cut();
  }

  private void accept() throws IOException {
    while (true) {
      Socket client = listener.accept();
      synchronized (this) {
        if (cut) {
          client.close();
          continue;
        }
        Socket upstream = new Socket(server.getHost(), server.getPort());
        sockets.add(client);
        sockets.add(upstream);
        start(() -> relay(client, upstream));
        start(() -> relay(upstream, client));
      }
    }
  }

  private static void relay(Socket from, Socket to) throws IOException {
    try (from;
        to) {
      from.getInputStream().transferTo(to.getOutputStream());
    }
  }

  private interface Work {
    void run() throws IOException;
  }

  /** Runs until a socket closes. */
  private static void start(Work work) {
    Thread thread =
        new Thread(
            () -> {
              try {
                work.run();
              } catch (IOException closed) {
                // The end of this connection, or of the line.
              }
            });
    thread.setDaemon(true);
    thread.start();
  }
}
