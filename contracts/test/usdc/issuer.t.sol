// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {SandboxUSDC} from "../../src/sandbox/SandboxUSDC.sol";
import {MarketTest} from "../base/MarketTest.sol";

contract UsdcIssuerTest is MarketTest {
    function test_succeeds_whenMinted() public {
        uint256 supply = usdc.totalSupply();
        vm.expectEmit(address(usdc));
        emit IERC20.Transfer(address(0), stranger, 5);
        vm.prank(admin);
        assertTrue(usdc.mint(stranger, 5));
        assertBalance(stranger, 5, "recipient");
        assertEq(usdc.totalSupply(), supply + 5);
    }

    /// @dev The flag shares a word with the balance and must not be seen in it.
    function test_succeeds_whenBlockingKeepsTheBalance() public {
        vm.expectEmit(address(usdc));
        emit SandboxUSDC.Blacklisted(buyer.addr);
        blockAccount(buyer.addr);
        blockAccount(buyer.addr);
        assertTrue(usdc.isBlacklisted(buyer.addr));
        assertBalance(buyer.addr, FUNDS, "blocked");
        vm.expectEmit(address(usdc));
        emit SandboxUSDC.UnBlacklisted(buyer.addr);
        unblockAccount(buyer.addr);
        assertFalse(usdc.isBlacklisted(buyer.addr));
        assertBalance(buyer.addr, FUNDS, "unblocked");
    }

    function test_succeeds_whenPausingStopsAllMovement() public {
        vm.expectEmit(address(usdc));
        emit SandboxUSDC.Pause();
        vm.prank(admin);
        usdc.pause();
        bytes memory paused = revertString("Pausable: paused");
        vm.startPrank(buyer.addr);
        vm.expectRevert(paused);
        usdc.transfer(stranger, 1);
        vm.expectRevert(paused);
        usdc.transferFrom(buyer.addr, stranger, 0);
        vm.expectRevert(paused);
        usdc.approve(stranger, 1);
        vm.stopPrank();
        vm.expectEmit(address(usdc));
        emit SandboxUSDC.Unpause();
        vm.prank(admin);
        usdc.unpause();
        vm.prank(buyer.addr);
        usdc.transfer(stranger, 1);
    }

    function test_reverts_whenNotTheIssuerCalls() public {
        bytes memory refusal = abi.encodeWithSelector(Ownable.OwnableUnauthorizedAccount.selector, stranger);
        vm.startPrank(stranger);
        vm.expectRevert(refusal);
        usdc.mint(stranger, 1);
        vm.expectRevert(refusal);
        usdc.blacklist(buyer.addr);
        vm.expectRevert(refusal);
        usdc.unBlacklist(buyer.addr);
        vm.expectRevert(refusal);
        usdc.pause();
        vm.expectRevert(refusal);
        usdc.unpause();
        vm.stopPrank();
    }

    function test_succeeds_whenItsDomainIsUsdcTwo() public view {
        assertEq(usdc.DOMAIN_SEPARATOR(), domainSeparator("USD Coin", "2", address(usdc)));
        assertEq(usdc.decimals(), 6);
        assertEq(usdc.symbol(), "USDC");
    }
}
