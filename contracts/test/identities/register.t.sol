// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IdentityRegistry} from "../../src/IdentityRegistry.sol";
import {IERC721Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";
import {Vm} from "forge-std/Vm.sol";
import {MarketTest} from "../base/MarketTest.sol";

/// @notice A contract that hands on what it receives.
contract PassingReceiver {
    address private _next;

    function register(IdentityRegistry identities, address next) external {
        _next = next;
        identities.register();
    }

    function onERC721Received(address, address, uint256 agentId, bytes calldata) external returns (bytes4) {
        IdentityRegistry(msg.sender).transferFrom(address(this), _next, agentId);
        return this.onERC721Received.selector;
    }
}

contract RegisterTest is MarketTest {
    uint256 private nextId;

    function setUp() public override {
        super.setUp();
        nextId = buyerAgentId + 1;
    }

    function test_succeeds_whenIdsCountFromZero() public view {
        assertEq(merchantId, 0);
        assertEq(reviewerAgentId, 1);
        assertEq(identities.ownerOf(0), merchant.addr);
    }

    /// [CHAIN-09]
    function test_succeeds_whenRegisteredBare() public {
        expectRegistered("");
        vm.prank(stranger);
        assertEq(identities.register(), nextId);
        assertEq(identities.ownerOf(nextId), stranger);
        assertEq(identities.getAgentWallet(nextId), stranger);
        assertEq(identities.tokenURI(nextId), "");
    }

    /// [CHAIN-09]
    function test_succeeds_whenRegisteredWithAURI() public {
        expectRegistered("ipfs://agent");
        vm.prank(stranger);
        assertEq(identities.register("ipfs://agent"), nextId);
        assertEq(identities.tokenURI(nextId), "ipfs://agent");
    }

    /// [CHAIN-09]
    function test_succeeds_whenRegisteredWithMetadata() public {
        IdentityRegistry.MetadataEntry[] memory metadata = new IdentityRegistry.MetadataEntry[](2);
        metadata[0] = IdentityRegistry.MetadataEntry("model", "a");
        metadata[1] = IdentityRegistry.MetadataEntry("role", "b");
        expectRegistered("ipfs://agent");
        vm.prank(stranger);
        identities.register("ipfs://agent", metadata);
        assertEq(identities.getMetadata(nextId, "model"), "a");
        assertEq(identities.getMetadata(nextId, "role"), "b");
    }

    function test_reverts_whenMetadataNamesTheWallet() public {
        IdentityRegistry.MetadataEntry[] memory metadata = new IdentityRegistry.MetadataEntry[](1);
        metadata[0] = IdentityRegistry.MetadataEntry("agentWallet", abi.encodePacked(stranger));
        vm.expectRevert(revertString("reserved key"));
        vm.prank(stranger);
        identities.register("", metadata);
    }

    /// @dev A safe mint: a contract that cannot hold an identity gets none.
    function test_reverts_whenAContractCannotReceive() public {
        vm.expectRevert(abi.encodeWithSelector(IERC721Errors.ERC721InvalidReceiver.selector, address(usdc)));
        vm.prank(address(usdc));
        identities.register();
    }

    /// @dev The new owner's identity has no wallet, and the last event says so.
    function test_succeeds_whenTheReceiverPassesItOnAtOnce() public {
        PassingReceiver receiver = new PassingReceiver();
        vm.recordLogs();
        receiver.register(identities, stranger);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        (, bytes memory wallet) = abi.decode(logs[logs.length - 1].data, (string, bytes));
        assertEq(wallet, "");
        assertEq(identities.getAgentWallet(nextId), address(0));
        assertEq(identities.ownerOf(nextId), stranger);
    }

    function test_succeeds_whenReadingTheVersion() public view {
        assertEq(identities.getVersion(), "2.0.0");
        assertEq(identities.name(), "AgentIdentity");
    }

    function expectRegistered(string memory uri) private {
        vm.expectEmit(address(identities));
        emit IdentityRegistry.Registered(nextId, uri, stranger);
        vm.expectEmit(address(identities));
        emit IdentityRegistry.MetadataSet(nextId, "agentWallet", "agentWallet", abi.encodePacked(stranger));
    }
}
